"""
Agents: what a tool retrieves is redacted before the agent's model and memory see it.

The tool runs out of sight of events and spans. Nodes that it returned are redacted with
their metadata, and its content is made anew of those that are released. Content without
nodes has no metadata, so it is given all that any constraint's `where` could ask for:
every constraint holds for it. Blocks other than text are dropped. A call and what comes
of it are under one policy, that of its start.

What a tool writes to the context of its workflow could not be redacted. A tool that
takes one is refused, and a guarded tool runs where none can be had.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import replace
from typing import Any, Self
from weakref import ref

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from llama_index.core.tools import (
    AsyncBaseTool,
    BaseTool,
    FunctionTool,
    ToolMetadata,
    ToolOutput,
)
from llama_index.core.tools.types import adapt_to_async_tool
from llama_index.core.workflow import Context

from llamaindex_sdrag.convert import nodes_of, passages_of
from llamaindex_sdrag.tracing import hide_from_tracers
from llamaindex_sdrag.wrapping import LLAMAINDEX, enforce, principal_of
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.errors import SdragError, UsageError
from sdrag.options import Options
from sdrag.pipeline import Disclosure, Request, disclose
from sdrag.policy import Policy, PolicySource, metadata_of_any
from sdrag.state import StateSource
from sdrag.wrapper import (
    NOTHING_RELEASED,
    ReloadableWrapper,
    tool_answer,
    tool_error,
    tool_question,
)

_HINT = (
    "Use the context in a step of the workflow or in a tool that is not guarded, and"
    " pass the guarded tool what it needs as arguments."
)


def guard_tool(
    tool: BaseTool,
    policy: PolicySource,
    llm: LLM | None = None,
    *,
    embeddings: BaseEmbedding | None = None,
    state: StateSource = None,
    options: Options | None = None,
) -> GuardedTool:
    """
    Return a tool that answers with what the policy lets be disclosed.

    Guard the tools that retrieve. Of one that retrieves nothing, such as a calculator,
    a strict policy may leave nothing; a warning then names the tool.

    Args:
        tool: The application's own; it takes no context of a workflow.
        policy: A path, a mapping, a list of sentences or a `Policy`.
        llm: Finds what the constraints mean; without one, the local engine does.
        embeddings: Compares constraints with nodes; the packaged MiniLM by default.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default.
        options: A detector, judges, sinks of audit events and the like.

    Example:
        ```python
        tool = guard_tool(RetrieverTool.from_defaults(retriever), policy="policy.yaml")
        agent = FunctionAgent(tools=[tool], llm=llm)
        ```

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: What was given is no tool, or takes a context.
    """
    if not isinstance(tool, BaseTool):
        raise UsageError(
            f"A {type(tool).__name__} is no LlamaIndex tool.",
            hint="Make it one, by `FunctionTool.from_defaults` say.",
        )
    if isinstance(tool, FunctionTool) and tool.requires_context:
        raise UsageError(
            "A tool that takes the context of its workflow cannot be guarded: what it"
            " writes there would not be redacted.",
            hint=_HINT,
        )
    inner = adapt_to_async_tool(tool)
    return GuardedTool(inner, policy, llm, embeddings, state, options)


class GuardedTool(ReloadableWrapper, AsyncBaseTool):
    """A tool whose output is redacted."""

    _framework = LLAMAINDEX
    _stage = "disclose"

    def __init__(self, inner: AsyncBaseTool, *given: Any) -> None:
        self._inner = inner
        self._set_up(*given)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Share the tool: nothing of it changes but the policy in force."""
        return self

    @property
    def metadata(self) -> ToolMetadata:
        """The description that the agent gets, which is the tool's own."""
        return self._inner.metadata

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Run the tool out of sight, and answer with what may be disclosed."""
        return tool_answer(run_sync(self._attempt(call_sync, args, kwargs)))

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Run the tool without blocking the event loop."""
        return tool_answer(await self._attempt(call_async, args, kwargs))

    async def _attempt(
        self, do: Caller, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> ToolOutput | SdragError:
        """Run the tool in a frame that is gone before an error of it is raised."""
        try:
            engine, inner = self.in_force(), self._inner
            question = tool_question((*args, *kwargs.values()))
            request = Request(question, principal_of(engine, None))
            with hide_from_tracers(engine.policy), _without_workflow():
                output = await do(inner.call, inner.acall, *args, **kwargs)
            nodes = _nodes_in(output, engine.policy)
            steps = self._steps(nodes, request, engine)
            disclosure = await enforce(do, engine, steps, request.principal)
            key = engine.policy.metadata.evidence
            released = nodes_of(disclosure.passages, key, nodes)
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            return tool_error(error, _HINT)
        texts = [scored.node.get_content(MetadataMode.LLM) for scored in released]
        content = "\n\n".join(texts) or NOTHING_RELEASED
        return ToolOutput(
            tool_name=self.metadata.get_name(),
            content=content,
            raw_input={"args": args, "kwargs": kwargs},
            raw_output=released if _are_nodes(output.raw_output) else content,
            is_error=output.is_error,
        )

    def _steps(
        self, nodes: list[NodeWithScore], request: Request, engine: Engine
    ) -> Steps[Disclosure]:
        disclosure = yield from disclose(passages_of(nodes), request, engine)
        return replace(disclosure, tool=self.metadata.name or "")

    def __repr__(self) -> str:
        return f"guard_tool({self.metadata.name!r}, {self.policy_hash!r})"


@contextmanager
def _without_workflow() -> Iterator[None]:
    """Hide the context of the step that runs the tool from what it calls."""
    with ExitStack() as stack:
        for variable, value in copy_context().items():
            if isinstance(value, ref) and isinstance(value(), Context):
                stack.callback(variable.reset, variable.set(lambda: None))
        yield


def _nodes_in(output: ToolOutput, policy: Policy) -> list[NodeWithScore]:
    """Return the nodes of an output, or its text as one node."""
    nodes = output.raw_output
    if _are_nodes(nodes):
        return list(nodes)
    if not output.content:
        return []
    node = TextNode(text=output.content, metadata=metadata_of_any(policy))
    return [NodeWithScore(node=node)]


def _are_nodes(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, NodeWithScore) for item in value
    )
