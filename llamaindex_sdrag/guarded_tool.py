"""
Agents: what a tool retrieves is redacted before the agent's model and memory see it.

The tool runs out of sight of events and spans. Nodes that it returned are judged with
their metadata, and its content is made anew of those that are released. Content without
nodes has no metadata, so it is given all that any constraint's `where` could ask for:
every constraint holds for it.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import AsyncBaseTool, BaseTool, ToolMetadata, ToolOutput
from llama_index.core.tools.types import adapt_to_async_tool

from llamaindex_sdrag.principals import PrincipalResolver
from llamaindex_sdrag.selective_disclosure_postprocessor import (
    SelectiveDisclosurePostprocessor,
)
from llamaindex_sdrag.tracing import cover
from sdrag.cache import Cached
from sdrag.calls import Limits
from sdrag.disclosure.bindings import Bindings
from sdrag.disclosure.history import Kept
from sdrag.errors import HostError
from sdrag.guardrails.withheld import WithheldForms
from sdrag.hosting import Audit, Authorizer, Escalate, metadata_of_any
from sdrag.judges import Scorer
from sdrag.policy import Policy, PolicySource

__all__ = ["NOTHING", "guard_tool"]

NOTHING = "Nothing was found that may be disclosed."
"""The content of an output of which nothing may be disclosed."""


def guard_tool(
    tool: BaseTool,
    *,
    policy: PolicySource,
    llm: LLM | None = None,
    embeddings: BaseEmbedding | None = None,
    bindings: Bindings = None,
    cache: Cached = None,
    history: Kept = None,
    authorize: Authorizer | None = None,
    scorer: Scorer = None,
    classifier: Scorer = None,
    contradiction: Scorer = None,
    withheld: WithheldForms | None = None,
    escalate: Escalate | None = None,
    audit: Audit = None,
    limits: Limits | None = None,
    principal_resolver: PrincipalResolver | None = None,
) -> AsyncBaseTool:
    """
    Return a tool that answers with what the policy lets be disclosed.

    Example:
        ```python
        tool = guard_tool(RetrieverTool.from_defaults(retriever), policy="policy.yaml")
        agent = FunctionAgent(tools=[tool], llm=llm)
        ```

    Args:
        tool: A retriever tool, or any tool that answers with text.
        policy: A path, a mapping or a `Policy`.
        llm: As for `SelectiveDisclosureRetriever`, like all that follow.
        embeddings: Compares constraints with passages.
        bindings: The sidecar, or its path.
        cache: Remembers redactions, or its path; in memory by default.
        history: Keeps what was withheld, or its path, for a monotone policy; in memory
            by default. Wrappers of one index share one.
        authorize: The host's own answer to who may see what.
        scorer: A cross-encoder, for a policy that reranks.
        classifier: Gives pairs of a text and nothing the probability of an injection.
        contradiction: Gives pairs of premise and hypothesis the probability that they
            contradict each other, where the policy says `method: nli`.
        withheld: Remembers what was cut out, for an `AnswerGuard` that has the same.
        escalate: Told where a contradiction withholds the answer.
        audit: Takes the audit events.
        limits: The bounds of model calls.
        principal_resolver: Finds the principal of a call.
    """
    checked = Policy.read(policy)
    redactor = SelectiveDisclosurePostprocessor(
        policy=checked,
        llm=llm,
        embeddings=embeddings,
        bindings=bindings,
        cache=cache,
        history=history,
        authorize=authorize,
        scorer=scorer,
        classifier=classifier,
        contradiction=contradiction,
        withheld=withheld,
        escalate=escalate,
        audit=audit,
        limits=limits,
        principal_resolver=principal_resolver,
    )
    return _Guarded(adapt_to_async_tool(tool), redactor, checked)


class _Guarded(AsyncBaseTool):
    """A tool whose output is redacted."""

    def __init__(
        self,
        inner: AsyncBaseTool,
        redactor: SelectiveDisclosurePostprocessor,
        policy: Policy,
    ) -> None:
        self._inner = inner
        self._redactor = redactor
        self._policy = policy

    @property
    def metadata(self) -> ToolMetadata:
        return self._inner.metadata

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        fault: Exception | None = None
        try:
            with cover(self._policy):
                output = self._inner.call(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            fault = _replaced(error)
        if fault is not None:
            raise fault
        nodes, bundle = self._judged(output), _question(args, kwargs)
        released = self._redactor.postprocess_nodes(nodes, bundle)
        return self._output(output, released)

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        fault: Exception | None = None
        try:
            with cover(self._policy):
                output = await self._inner.acall(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            fault = _replaced(error)
        if fault is not None:
            raise fault
        nodes, bundle = self._judged(output), _question(args, kwargs)
        released = await self._redactor.apostprocess_nodes(nodes, bundle)
        return self._output(output, released)

    def _judged(self, output: ToolOutput) -> list[NodeWithScore]:
        """Return what is to be judged: the nodes, else the text."""
        found = output.raw_output
        if _are_nodes(found):
            return list(found)
        if not output.content:
            return []
        node = TextNode(text=output.content, metadata=metadata_of_any(self._policy))
        return [NodeWithScore(node=node)]

    def _output(self, output: ToolOutput, released: list[NodeWithScore]) -> ToolOutput:
        texts = [scored.node.get_content(MetadataMode.LLM) for scored in released]
        content = "\n\n".join(texts) or NOTHING
        return ToolOutput(
            tool_name=output.tool_name,
            content=content,
            raw_input=output.raw_input,
            raw_output=released if _are_nodes(output.raw_output) else content,
            is_error=output.is_error,
        )

    def __repr__(self) -> str:
        return f"guard_tool({self.metadata.name!r}, {self._policy.hash!r})"


def _replaced(error: Exception) -> HostError:
    return HostError(f"The tool failed with {type(error).__name__}.")


def _are_nodes(found: object) -> bool:
    return isinstance(found, list) and all(
        isinstance(item, NodeWithScore) for item in found
    )


def _question(args: tuple[Any, ...], kwargs: dict[str, Any]) -> QueryBundle:
    """Return what the model asked the tool; it ranks constraints, no more."""
    values = (*args, *kwargs.values())
    return QueryBundle(" ".join(value for value in values if isinstance(value, str)))
