"""
Agents: what a tool retrieves is redacted before the agent's model and memory see it.

The tool runs out of sight of events and spans. Nodes that it returned are judged with
their metadata, and its content is made anew of those that are released. Content without
nodes has no metadata, so it is given all that any constraint's `where` could ask for:
every constraint holds for it. A call and what comes of it are under one policy, that of
its start.
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
from sdrag.calls import Limits
from sdrag.errors import HostError, SdragError, UsageError, cut_off
from sdrag.hosting import Audit, Authorizer, Escalate
from sdrag.judges import Scorer
from sdrag.policy import Policy, PolicySource, metadata_of_any
from sdrag.state import StateSource

__all__ = ["NOTHING", "GuardedTool", "guard_tool"]

NOTHING = "Nothing was found that may be disclosed."
"""The content of an output of which nothing may be disclosed."""


Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Attempted = ToolOutput | BaseException
"""What is released, or else why nothing is."""


def guard_tool(
    tool: BaseTool,
    *,
    policy: PolicySource,
    llm: LLM | None = None,
    embeddings: BaseEmbedding | None = None,
    state: StateSource = None,
    authorize: Authorizer | None = None,
    scorer: Scorer = None,
    classifier: Scorer = None,
    contradiction: Scorer = None,
    escalate: Escalate | None = None,
    audit: Audit = None,
    limits: Limits | None = None,
    principal_resolver: PrincipalResolver | None = None,
) -> GuardedTool:
    """
    Return a tool that answers with what the policy lets be disclosed.

    All arguments but the tool are those of `SelectiveDisclosurePostprocessor`.

    Example:
        ```python
        tool = guard_tool(RetrieverTool.from_defaults(retriever), policy="policy.yaml")
        agent = FunctionAgent(tools=[tool], llm=llm)
        ```

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: What was given is no tool.
    """
    redactor = SelectiveDisclosurePostprocessor(
        policy=policy,
        llm=llm,
        embeddings=embeddings,
        state=state,
        authorize=authorize,
        scorer=scorer,
        classifier=classifier,
        contradiction=contradiction,
        escalate=escalate,
        audit=audit,
        limits=limits,
        principal_resolver=principal_resolver,
    )
    return GuardedTool(_async_tool(tool), redactor)


def _async_tool(tool: object) -> AsyncBaseTool:
    if not isinstance(tool, BaseTool):
        raise UsageError(
            f"A {type(tool).__name__} is no LlamaIndex tool.",
            hint="Make it one, by `FunctionTool.from_defaults` say.",
        )
    return adapt_to_async_tool(tool)


class GuardedTool(AsyncBaseTool):
    """A tool whose output is redacted."""

    def __init__(
        self, inner: AsyncBaseTool, redactor: SelectiveDisclosurePostprocessor
    ) -> None:
        self._inner = inner
        self._redactor = redactor

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy in force says."""
        return self._redactor.policy.hash

    def reload(self) -> bool:
        """
        Read the policy's file again, as `SelectiveDisclosurePostprocessor.reload` does.

        Returns:
            Whether the file's policy is in force now.

        Raises:
            UsageError: The policy comes from no file.
        """
        return self._redactor.reload()

    @property
    def metadata(self) -> ToolMetadata:
        """What the agent is told of the tool, which is what the tool says."""
        return self._inner.metadata

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Run the tool out of sight, and answer with what may be disclosed."""
        released = self._attempted(args, kwargs)
        if isinstance(released, BaseException):
            raise released
        return released

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Run the tool without blocking the event loop."""
        released = await self._aattempted(args, kwargs)
        if isinstance(released, BaseException):
            raise released
        return released

    def _attempted(self, args: Args, kwargs: Kwargs) -> Attempted:
        """Run the tool in a frame that is gone before an error of it is raised."""
        try:
            redactor = self._redactor.fixed()
            with cover(redactor.policy):
                output = self._inner.call(*args, **kwargs)
            nodes = _judged(output, redactor.policy)
            released = redactor.postprocess_nodes(nodes, _question(args, kwargs))
            asked = {"args": args, "kwargs": kwargs}
            return self._output(output, released, asked)
        except BaseException as error:  # noqa: BLE001 -- whatever a tool raises
            return _replaced(error)

    async def _aattempted(self, args: Args, kwargs: Kwargs) -> Attempted:
        """Run the tool without blocking the event loop; as `_attempted`."""
        try:
            redactor = await self._redactor.afixed()
            with cover(redactor.policy):
                output = await self._inner.acall(*args, **kwargs)
            nodes = _judged(output, redactor.policy)
            released = await redactor.apostprocess_nodes(nodes, _question(args, kwargs))
            asked = {"args": args, "kwargs": kwargs}
            return self._output(output, released, asked)
        except BaseException as error:  # noqa: BLE001 -- whatever a tool raises
            return _replaced(error)

    def _output(
        self, output: ToolOutput, released: list[NodeWithScore], asked: Kwargs
    ) -> ToolOutput:
        """Build the output that the agent sees, of what was asked and released."""
        texts = [scored.node.get_content(MetadataMode.LLM) for scored in released]
        content = "\n\n".join(texts) or NOTHING
        return ToolOutput(
            tool_name=self.metadata.get_name(),
            content=content,
            raw_input=asked,
            raw_output=released if _are_nodes(output.raw_output) else content,
            is_error=output.is_error,
        )

    def __repr__(self) -> str:
        return f"guard_tool({self.metadata.name!r}, {self.policy_hash!r})"


def _replaced(error: BaseException) -> BaseException:
    """Keep our own errors and what only interrupts; neither brings its frames."""
    if isinstance(error, SdragError) or not isinstance(error, Exception):
        return cut_off(error)
    return HostError(f"The tool failed with {type(error).__name__}.")


def _judged(output: ToolOutput, policy: Policy) -> list[NodeWithScore]:
    """Return what is to be judged: the nodes, else the text."""
    found = output.raw_output
    if _are_nodes(found):
        return list(found)
    if not output.content:
        return []
    node = TextNode(text=output.content, metadata=metadata_of_any(policy))
    return [NodeWithScore(node=node)]


def _are_nodes(found: object) -> bool:
    return isinstance(found, list) and all(
        isinstance(item, NodeWithScore) for item in found
    )


def _question(args: Args, kwargs: Kwargs) -> QueryBundle:
    """Return what the model asked the tool; it ranks constraints, no more."""
    values = (*args, *kwargs.values())
    return QueryBundle(" ".join(value for value in values if isinstance(value, str)))
