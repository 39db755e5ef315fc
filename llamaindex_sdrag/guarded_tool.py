"""
Agents: what a tool retrieves is redacted before the agent's model and memory see it.

The tool runs out of sight of events and spans. Nodes that it returned are redacted with
their metadata, and its content is made anew of those that are released. Content without
nodes has no metadata, so it is given all that any constraint's `where` could ask for:
every constraint holds for it. Blocks other than text are dropped. A call and what comes
of it are under one policy, that of its start.

A tool that takes the context of its workflow is given one that redacts what is written
to it: see `guarded_context.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self, Unpack

from llama_index.core.agent.workflow.agent_context import SimpleAgentContext
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
from workflows.runtime.types.results import WaitingForEvent

from llamaindex_sdrag.convert import nodes_of, passages_of
from llamaindex_sdrag.guarded_context import (
    GuardedContext,
    asked,
    guarded_steps,
    waiting_again,
)
from llamaindex_sdrag.principals import PrincipalResolver
from llamaindex_sdrag.redacted_values import value_redactor
from llamaindex_sdrag.tracing import hide_from_tracers
from llamaindex_sdrag.wrapping import DisclosureArguments, disclosing_engine
from sdrag.engine import Engine
from sdrag.errors import HostError, SdragError, UsageError, check_call
from sdrag.policy import Policy, metadata_of_any
from sdrag.value_redactor import NOTHING, ValueRedactor
from sdrag.wrapper import ReloadableWrapper

__all__ = ["NOTHING", "GuardedTool", "guard_tool"]

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
_CONTEXTS = (Context, SimpleAgentContext)
Attempted = ToolOutput | Exception
"""What is released, or else why nothing is."""


@check_call
def guard_tool(tool: BaseTool, **given: Unpack[DisclosureArguments]) -> GuardedTool:
    """
    Return a tool that answers with what the policy lets be disclosed.

    Guard the tools that retrieve. Of one that retrieves nothing, such as a calculator,
    a strict policy may leave nothing; a warning then names the tool.

    Args:
        tool: The host's own.
        **given: As for `SelectiveDisclosurePostprocessor`.

    Example:
        ```python
        tool = guard_tool(RetrieverTool.from_defaults(retriever), policy="policy.yaml")
        agent = FunctionAgent(tools=[tool], llm=llm)
        ```

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: What was given is no tool.
    """
    engine, resolver = disclosing_engine("guard_tool", "disclose", given)
    inner = _async_tool(tool)
    if isinstance(inner, FunctionTool) and inner.requires_context:
        guarded: GuardedTool = GuardedContextTool(inner, resolver)
    else:
        guarded = GuardedTool(inner, resolver)
    guarded._follow(engine, given["policy"])  # noqa: SLF001 -- of this very module
    return guarded


def _async_tool(tool: object) -> AsyncBaseTool:
    if not isinstance(tool, BaseTool):
        raise UsageError(
            f"A {type(tool).__name__} is no LlamaIndex tool.",
            hint="Make it one, by `FunctionTool.from_defaults` say.",
        )
    return adapt_to_async_tool(tool)


class GuardedTool(ReloadableWrapper, AsyncBaseTool):
    """A tool whose output is redacted."""

    def __init__(
        self, inner: AsyncBaseTool, resolver: PrincipalResolver | None
    ) -> None:
        self._inner = inner
        self._resolver = resolver

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Share the tool: nothing of it changes but the policy in force."""
        return self

    @property
    def metadata(self) -> ToolMetadata:
        """The description that the agent gets, which is the tool's own."""
        return self._inner.metadata

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Run the tool out of sight, and answer with what may be disclosed."""
        released = self._attempted(args, kwargs)
        if isinstance(released, Exception):
            raise released
        return released

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Run the tool without blocking the event loop."""
        released = await self._aattempted(args, kwargs)
        if isinstance(released, Exception):
            raise released
        return released

    def _attempted(self, args: Args, kwargs: Kwargs) -> Attempted:
        """Run the tool in a frame that is gone before an error of it is raised."""
        try:
            engine = self.in_force()
            values = self._values(engine, _question(args, kwargs))
            output: ToolOutput | WaitingForEvent[Any]
            try:
                with _guarded(values, args, kwargs) as call:
                    output = self._inner.call(*call.args, **call.kwargs)
            except WaitingForEvent as waiting:
                output = waiting
            call.flush()
            if isinstance(output, WaitingForEvent):
                return waiting_again(output, values.redact(asked(output)))
            nodes = _nodes_of_output(output, engine.policy)
            left = values.disclose(passages_of(nodes))
            released = nodes_of(left, engine.policy.metadata.evidence, nodes)
            return self._output(output, released, _raw_input(args, kwargs))
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            return _without_text(error)

    async def _aattempted(self, args: Args, kwargs: Kwargs) -> Attempted:
        """Run the tool without blocking the event loop; as `_attempted`."""
        try:
            engine = self.in_force()
            values = self._values(engine, _question(args, kwargs))
            output: ToolOutput | WaitingForEvent[Any]
            try:
                with _guarded(values, args, kwargs) as call:
                    output = await self._inner.acall(*call.args, **call.kwargs)
            except WaitingForEvent as waiting:
                output = waiting
            await call.aflush()
            if isinstance(output, WaitingForEvent):
                return waiting_again(output, await values.aredact(asked(output)))
            nodes = _nodes_of_output(output, engine.policy)
            left = await values.adisclose(passages_of(nodes))
            released = nodes_of(left, engine.policy.metadata.evidence, nodes)
            return self._output(output, released, _raw_input(args, kwargs))
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            return _without_text(error)

    def _values(self, engine: Engine, question: str) -> ValueRedactor:
        values = value_redactor(engine, question, self._resolver)
        return replace(values, tool=self.metadata.name or "")

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


class GuardedContextTool(GuardedTool, FunctionTool):
    """A tool whose output is redacted, and which agents hand their context to."""

    def __init__(self, inner: FunctionTool, resolver: PrincipalResolver | None) -> None:
        GuardedTool.__init__(self, inner, resolver)
        self.requires_context = True
        self.ctx_param_name = inner.ctx_param_name
        self.partial_params = {}
        self._real_fn = None
        self._fn, self._async_fn = self.call, self.acall


class _Call:
    """The arguments of one call of a tool, with guarded contexts among them."""

    def __init__(
        self, values: ValueRedactor, current: GuardedContext | None, given: Any
    ) -> None:
        args, kwargs = given
        self._values = values
        self._contexts = [current] if current else []
        self.args = tuple(map(self._argument, args))
        self.kwargs = {name: self._argument(value) for name, value in kwargs.items()}

    def flush(self) -> None:
        """Send what the tool wrote to its contexts, redacted."""
        for context in self._contexts:
            context.flush_written()

    async def aflush(self) -> None:
        """Send it without blocking the event loop."""
        for context in self._contexts:
            await context.aflush_written()

    def _argument(self, value: Any) -> Any:
        if not isinstance(value, _CONTEXTS) or isinstance(value, GuardedContext):
            return value
        guarded = GuardedContext(value, self._values)
        self._contexts.append(guarded)
        return guarded


@contextmanager
def _guarded(values: ValueRedactor, args: Args, kwargs: Kwargs) -> Iterator[_Call]:
    """Surround the call of a tool: out of sight, and with guarded contexts only."""
    with (
        hide_from_tracers(values.engine.policy),
        guarded_steps(values) as current,
    ):
        yield _Call(values, current, (args, kwargs))


def _raw_input(args: Args, kwargs: Kwargs) -> Kwargs:
    """Return what the model asked, without what the agent handed over with it."""
    return {
        "args": tuple(value for value in args if not isinstance(value, _CONTEXTS)),
        "kwargs": {
            name: value
            for name, value in kwargs.items()
            if not isinstance(value, _CONTEXTS)
        },
    }


def _without_text(error: Exception) -> SdragError:
    """Keep an error of sdrag; any other may quote text."""
    if isinstance(error, SdragError):
        return error.sealed()
    return HostError(f"The tool failed with {type(error).__name__}.")


def _nodes_of_output(output: ToolOutput, policy: Policy) -> list[NodeWithScore]:
    """Return the nodes of an output, or its text as one node."""
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


def _question(args: Args, kwargs: Kwargs) -> str:
    """Return what the model asked the tool; it ranks constraints, no more."""
    values = (*args, *kwargs.values())
    return " ".join(value for value in values if isinstance(value, str))
