"""
Agents: what tools retrieve is redacted before model, state and checkpointer see it.

A tool is replaced, for one call, by one that runs it out of the tracers' sight and
answers with what may be disclosed. The events of the tool are emitted here, around the
hidden call: they carry the arguments that the model wrote and what was released. An
error of the tool is replaced by one that names its type, since agents show error texts
to the model.

LangGraph gives a tool its state, its store, its stream and the wiring of its graph. The
guarded tool gets a copy of the state, the runtime's context, and no store. Writing to
the stream is refused, since what is written there could not be redacted; so is
interrupting the graph.

A thread can be shared. Before every model call the messages of every turn are looked
at: one that was not released to this principal under this policy is redacted then, and
replaced in the state. Human messages are left as they are. A call and what comes of it
are under one policy, that of its start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NoReturn, cast

from langchain_core.embeddings import Embeddings
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import (
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)
from langchain_core.tools import BaseTool
from pydantic import Field

from langchain_sdrag.agent_messages import Release, needs_release
from langchain_sdrag.models import Model
from langchain_sdrag.tracing import SILENT, hide_from_tracers, without_graph
from langchain_sdrag.wrapping import LANGCHAIN, session_of
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.engine import Engine
from sdrag.errors import InternalError, SdragError, UsageError, require_extra
from sdrag.options import Options
from sdrag.pipeline import Request
from sdrag.policy import Policy, PolicySource
from sdrag.principals import check_principal, current_principal
from sdrag.state import StateSource
from sdrag.vocabulary import Principal
from sdrag.wrapper import ReloadableWrapper, tool_answer, tool_error, tool_question

with require_extra("agents", "SelectiveDisclosureMiddleware"):
    from langchain.agents.middleware import (
        AgentMiddleware,
        AgentState,
        ModelRequest,
        ModelResponse,
    )
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.runtime import Runtime
    from langgraph.types import Command


Answer = ToolMessage | Command[Any]


class SelectiveDisclosureMiddleware(
    ReloadableWrapper, AgentMiddleware[AgentState[Any], Any, Any]
):
    """
    Keep of what tools return what the policy lets be disclosed.

    Every tool is guarded unless `tools` says which. Of one that retrieves nothing, such
    as a calculator, a strict policy may leave nothing; a warning then names the tool.

    Example:
        ```python
        agent = create_agent(
            model,
            [search, calculator],
            middleware=[
                SelectiveDisclosureMiddleware(policy="policy.yaml", tools=["search"])
            ],
        )
        agent.invoke(messages, context={"principal": Principal("ada")})
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        llm: Finds what the constraints mean; without one, the local engine does.
        embeddings: Compares constraints with passages; the packaged MiniLM by default.
        state: As for the retriever. Its secret is the key of the stamps on messages:
            with a state in memory, a thread that another process continues is redacted
            again.
        options: A detector, judges, sinks of audit events and the like. Its
            `principal_resolver` takes the runtime context of the agent; by default the
            principal is there under `principal`, or is that of `acting_as`.
        tools: The names of the tools that retrieve; by default all are taken to.
        name: Tells two of these middlewares of one agent apart.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: An argument is not what it must be.
    """

    _framework = LANGCHAIN
    _stage = "disclose"

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
        tools: Collection[str] | None = None,
        name: str | None = None,
    ) -> None:
        if isinstance(tools, str):
            raise UsageError("`tools` is a collection of names, not one string.")
        self._names = None if tools is None else frozenset(tools)
        self._name = name or type(self).__name__
        self._set_up(policy, llm, embeddings, state, options)

    def _initialize(self, engine: Engine, fields: dict[str, Any]) -> None:
        super().__init__(**fields)
        self._resolver = engine.options.principal_resolver or _in_context

    @property
    def name(self) -> str:
        """The name by which the agent knows the middleware."""
        return self._name

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]
    ) -> Answer:
        """Run the tool out of sight, and answer with what may be disclosed."""
        return cast(
            "Answer", tool_answer(run_sync(self._call(call_sync, request, handler)))
        )

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[Answer]],
    ) -> Answer:
        """Run the tool out of sight, without blocking the event loop."""
        return cast(
            "Answer", tool_answer(await self._call(call_async, request, handler))
        )

    def before_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Redact the messages that were not released to this principal."""
        return run_sync(self._redact_thread(call_sync, state, runtime))

    async def abefore_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Redact them without blocking the event loop."""
        return await self._redact_thread(call_async, state, runtime)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Stamp what the model says as released to whom it says it."""
        return _stamp(handler(request), self._release(request.runtime))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Stamp it without blocking the event loop."""
        return _stamp(await handler(request), self._release(request.runtime))

    async def _call(
        self, do: Caller, request: ToolCallRequest, handler: Callable[..., Any]
    ) -> Any:
        """Return what may be disclosed of an answer, or the error of a guarded tool."""
        call, tool = request.tool_call, request.tool
        if not self._guards(call["name"] if tool is None else tool.name):
            return await do(handler, handler, request)
        release = self._release(request.runtime, tool_question(call["args"].values()))
        answer = await do(handler, handler, _guard(request, release))
        try:  # another middleware may answer, or a tool of its own
            return await release.redact_answer(do, request, answer)
        except Exception as error:  # noqa: BLE001 -- none leaves with text
            return tool_error(error, _HINT)

    async def _redact_thread(
        self, do: Caller, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        release = self._release(runtime)
        messages = [
            await release.redact(do, message)
            for message in state["messages"]
            if needs_release(message)
            and (not isinstance(message, ToolMessage) or self._guards(message.name))
            and not release.is_stamped(message)
        ]
        return {"messages": messages} if messages else None

    def _guards(self, name: str | None) -> bool:
        return self._names is None or name is None or name in self._names

    def _release(self, runtime: Any, question: str = "") -> Release:
        principal = check_principal(self._resolver(getattr(runtime, "context", None)))
        request = Request(question, principal, session_id=session_of(None))
        return Release(self.in_force(), request)


def _guard(request: ToolCallRequest, release: Release) -> ToolCallRequest:
    """Put a tool that redacts in the place of one that is guarded."""
    if (tool := request.tool) is None:  # another middleware will put one there
        return request
    redacting = RedactingTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        inner=tool,
        policy=release.engine.policy,
        redact=lambda do, answer: release.redact_answer(do, request, answer),
    )
    return request.override(tool=redacting)


def _stamp(response: ModelResponse[Any], release: Release) -> ModelResponse[Any]:
    """Stamp the messages of a response, but for those of the human."""
    stamped = [
        release.stamp(message) if needs_release(message) else message
        for message in response.result
    ]
    return replace(response, result=stamped)


def _in_context(context: Any) -> Principal | None:
    """Find the principal in a mapping or an object, else in this context."""
    if isinstance(context, Mapping):
        principal = context.get("principal")
    else:
        principal = getattr(context, "principal", None)
    return principal or current_principal()


with require_extra("agents", "Guarding an agent's tools"):
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt import ToolRuntime
    from langgraph.store.base import BaseStore


_HINT = (
    "A guarded tool answers, and does nothing else to its graph: no store, stream or"
    " interrupt. Do that in a node, or leave a tool that retrieves nothing out of"
    " `tools=[...]` of `SelectiveDisclosureMiddleware`."
)


class RedactingTool(BaseTool):
    """Stands in for a tool during one call."""

    inner: BaseTool = Field(exclude=True, repr=False)
    policy: Policy = Field(exclude=True, repr=False)
    redact: Callable[[Caller, Any], Awaitable[Any]] = Field(exclude=True, repr=False)

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Run the tool, and redact what it returns."""
        return tool_answer(run_sync(self._trace(call_sync, input, config, kwargs)))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Run the tool without blocking the event loop."""
        return tool_answer(await self._trace(call_async, input, config, kwargs))

    async def _trace(
        self, do: Caller, call: Any, config: RunnableConfig | None, kwargs: Any
    ) -> Any:
        """Tell the run's handlers what was asked, and what is released."""
        arguments, full = _plain(call), ensure_config(config)
        manager: Any = get_callback_manager_for_config(full)
        if do is call_async:
            manager = get_async_callback_manager_for_config(full)
        start = partial(manager.on_tool_start, {"name": self.name}, str(arguments))
        run = await do(start, start, inputs=arguments)
        released = await self._attempt(do, call, config, kwargs)
        failed = isinstance(released, SdragError)
        end = run.on_tool_error if failed else run.on_tool_end
        await do(end, end, released)
        return released

    async def _attempt(
        self, do: Caller, call: Any, config: RunnableConfig | None, kwargs: Any
    ) -> Any:
        """Run the tool in a frame that is gone before an error of it is raised."""
        try:
            detached = self._detach(config)
            invoke, ainvoke = self.inner.invoke, self.inner.ainvoke
            with hide_from_tracers(self.policy, None):
                given = _detach(call, detached)
                answer = await do(invoke, ainvoke, given, detached, **kwargs)
            return await self.redact(do, answer)
        except GraphBubbleUp:
            return UsageError("A guarded tool interrupted its graph.", hint=_HINT)
        except Exception as error:  # noqa: BLE001 -- whatever a tool raises
            return tool_error(error, _HINT)

    def _detach(self, config: RunnableConfig | None) -> RunnableConfig:
        """Return a config by which a tool reaches nothing of its graph."""
        full = ensure_config(config)
        configurable = without_graph(
            full.get("configurable", {}), stream_writer=_refuse, store=None
        )
        detached: RunnableConfig = {**full, "configurable": configurable}
        if self.policy.tracing.inner != "shown":
            detached["callbacks"] = [*SILENT]
        return detached

    def _run(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise InternalError("A redacting tool is invoked, never run.")


@dataclass
class _DetachedRuntime(ToolRuntime[Any, Any]):
    """The runtime of a tool, which writes to no stream."""

    def emit_output_delta(self, delta: Any) -> NoReturn:
        """Refuse a partial output."""
        _refuse(delta)


def _refuse(_: object) -> NoReturn:
    raise UsageError("A guarded tool wrote to the stream of its graph.", hint=_HINT)


def _detach(call: Any, config: RunnableConfig) -> Any:
    """Return the call of a tool with copies of what the graph injected."""
    if not isinstance(call, dict) or not isinstance(call.get("args"), dict):
        return call
    arguments = {
        name: _detach_argument(value, config) for name, value in call["args"].items()
    }
    return {**call, "args": arguments}


def _detach_argument(value: Any, config: RunnableConfig) -> Any:
    if isinstance(value, BaseStore):
        return None
    if not isinstance(value, ToolRuntime):
        return _copy(value)
    parts = {item.name: getattr(value, item.name) for item in fields(ToolRuntime)}
    parts |= {"state": _copy(value.state), "config": config, "store": None}
    return _DetachedRuntime(**parts | {"stream_writer": _refuse})


def _copy(value: Any) -> Any:
    try:
        return deepcopy(value)
    except Exception:  # noqa: BLE001 -- whatever a copy raises
        raise UsageError(
            "The state of the graph holds what cannot be copied for a guarded tool.",
            hint=_HINT,
        ) from None


def _plain(call: Any) -> dict[str, Any]:
    """Return what the model wrote, without what the agent injected with it."""
    arguments = call.get("args", {}) if isinstance(call, dict) else {}
    plain = (str, int, float, bool)
    return {key: value for key, value in arguments.items() if isinstance(value, plain)}
