"""
Agents: what tools retrieve is redacted before model, state and checkpointer see it.

A tool is replaced, for one call, by one that runs it out of the tracers' sight and
answers with what may be disclosed, so the tool's own events carry that. What the tool
writes next to its answer is redacted too: see `tool_channels.py`.

A thread can be shared. Before every model call the messages of every turn are looked
at: one that was not released to this principal under this policy is redacted then, and
replaced in the state. Human messages are left as they are. In an own turn, the
arguments of tool calls are never rewritten. A call and what comes of it are under one
policy, that of its start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Unpack

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool

from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.redacted_values import rebuild
from langchain_sdrag.redacting_tool import RedactingTool
from langchain_sdrag.release_marks import ReleaseMark, needs_release
from langchain_sdrag.selective_disclosure_compressor import (
    SelectiveDisclosureCompressor,
)
from langchain_sdrag.tool_answers import checked, named, tool_messages
from langchain_sdrag.tool_channels import ToolChannels
from langchain_sdrag.tool_messages import put_together, retrieved_in
from langchain_sdrag.wrapping import SetupArguments
from sdrag.engine import Engine
from sdrag.errors import UsageError, check_call, require_extra
from sdrag.principals import current_principal
from sdrag.state import open_state
from sdrag.value_redactor import ValueRedactor
from sdrag.vocabulary import Principal

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

__all__ = ["ContextResolver", "SelectiveDisclosureMiddleware"]

ContextResolver = Callable[[Any], Principal | None]
"""Takes the runtime context of the agent."""

Found = ToolMessage | Command[Any]


class SelectiveDisclosureMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
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
        tools: The names of the tools that retrieve; by default all are taken to.
        principal_resolver: Finds the principal in the runtime context; by default it
            is there under `principal`, or is that of `acting_as`.
        **given: `policy`, `llm`, `embeddings`, `detector`, `state`, `judges`,
            `authorize`, `audit` and `limits`, as `SetupArguments` says. The secret of
            the state is the key of the marks on messages: with a state in memory, a
            thread that another process continues is redacted again.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: An argument is not what it must be.
    """

    @check_call
    def __init__(
        self,
        *,
        tools: Collection[str] | None = None,
        principal_resolver: ContextResolver | None = None,
        **given: Unpack[SetupArguments],
    ) -> None:
        super().__init__()
        if isinstance(tools, str):
            raise UsageError("`tools` is a collection of names, not one string.")
        self._names = None if tools is None else frozenset(tools)
        self._resolver = principal_resolver or _in_context
        self._state = given["state"] = open_state(given.get("state"))
        self._redactor = SelectiveDisclosureCompressor(
            **given, principal_resolver=lambda _: current_principal()
        )

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy in force says."""
        return self._redactor.policy_hash

    def reload(self) -> None:
        """Read the policy's file again, as `SelectiveDisclosureRetriever` does."""
        self._redactor.reload()

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Found]
    ) -> Found:
        """Run the tool out of sight, and answer with what may be disclosed."""
        tool = request.tool
        if tool is None or not self._guards(tool.name):
            return handler(request)
        values = self._values(self._redactor.in_force(), request)

        def redact(found: Any) -> Any:
            answer = named(checked(found), request)
            released = {
                id(one): self._message(one, values) for one in tool_messages(answer)
            }
            return values.redact(answer, released)

        quiet = _quiet(tool, request, values, redact=redact)
        return handler(request.override(tool=quiet))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[Found]],
    ) -> Found:
        """Run the tool out of sight, without blocking the event loop."""
        tool = request.tool
        if tool is None or not self._guards(tool.name):
            return await handler(request)
        values = self._values(self._redactor.in_force(), request)

        async def aredact(found: Any) -> Any:
            answer = named(checked(found), request)
            released = {
                id(one): await self._amessage(one, values)
                for one in tool_messages(answer)
            }
            return await values.aredact(answer, released)

        quiet = _quiet(tool, request, values, aredact=aredact)
        return await handler(request.override(tool=quiet))

    def before_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Redact the messages that were not released to this principal."""
        values = self._values_of(self._redactor.in_force(), runtime)
        mark = self._mark(values)
        messages = [
            self._message(one, replace(values, tool=one.name or ""))
            if isinstance(one, ToolMessage)
            else mark.put_on(values.redact(one))
            for one in self._unreleased(state, mark)
        ]
        return {"messages": messages} if messages else None

    async def abefore_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Redact them without blocking the event loop."""
        values = self._values_of(self._redactor.in_force(), runtime)
        mark = self._mark(values)
        messages = [
            await self._amessage(one, replace(values, tool=one.name or ""))
            if isinstance(one, ToolMessage)
            else mark.put_on(await values.aredact(one))
            for one in self._unreleased(state, mark)
        ]
        return {"messages": messages} if messages else None

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Mark what the model says as released to whom it says it."""
        mark = self._mark(self._values_of(self._redactor.in_force(), request.runtime))
        return _marked(handler(request), mark)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Mark it without blocking the event loop."""
        engine = self._redactor.in_force()
        mark = self._mark(self._values_of(engine, request.runtime))
        return _marked(await handler(request), mark)

    def _guards(self, name: str | None) -> bool:
        return self._names is None or name is None or name in self._names

    def _unreleased(
        self, state: AgentState[Any], mark: ReleaseMark
    ) -> list[BaseMessage]:
        """Return the messages that were not released under this mark."""
        return [
            message
            for message in state["messages"]
            if needs_release(message)
            and not (
                isinstance(message, ToolMessage) and not self._guards(message.name)
            )
            and not mark.stands_on(message)
        ]

    def _message(self, message: ToolMessage, values: ValueRedactor) -> ToolMessage:
        documents = retrieved_in(message, values.engine.policy)
        released = documents_of(values.disclose(passages_of(documents)))
        return self._mark(values).put_on(put_together(message, released))

    async def _amessage(
        self, message: ToolMessage, values: ValueRedactor
    ) -> ToolMessage:
        documents = retrieved_in(message, values.engine.policy)
        released = documents_of(await values.adisclose(passages_of(documents)))
        return self._mark(values).put_on(put_together(message, released))

    def _mark(self, values: ValueRedactor) -> ReleaseMark:
        return ReleaseMark(self._state, values.engine.policy, values.principal)

    def _values(self, engine: Engine, request: ToolCallRequest) -> ValueRedactor:
        principal = self._principal(request.runtime)
        tool = request.tool_call["name"]
        return ValueRedactor(engine, rebuild, principal, _question(request), tool=tool)

    def _values_of(self, engine: Engine, runtime: Any) -> ValueRedactor:
        return ValueRedactor(engine, rebuild, self._principal(runtime))

    def _principal(self, runtime: Any) -> Principal | None:
        found: object = self._resolver(getattr(runtime, "context", None))
        if found is None or isinstance(found, Principal):
            return found
        raise UsageError(
            f"The principal is a {type(found).__name__}.",
            hint="Make it a sdrag.Principal where the user is authenticated.",
        )


def _quiet(
    tool: BaseTool, request: ToolCallRequest, values: ValueRedactor, **hooks: Any
) -> RedactingTool:
    policy = values.engine.policy
    return RedactingTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        inner=tool,
        policy=policy,
        channels=ToolChannels(
            values, request.state, shown=policy.tracing.inner == "shown"
        ),
        **hooks,
    )


def _marked(response: ModelResponse[Any], mark: ReleaseMark) -> ModelResponse[Any]:
    """Mark the messages of a response, but for those of the human."""
    marked = [
        mark.put_on(message) if needs_release(message) else message
        for message in response.result
    ]
    return replace(response, result=marked)


def _in_context(context: Any) -> Principal | None:
    """Find the principal in a mapping or an object, else in this context."""
    if isinstance(context, Mapping):
        found = context.get("principal")
    else:
        found = getattr(context, "principal", None)
    return found or current_principal()


def _question(request: ToolCallRequest) -> str:
    """Return what the model asked the tool; it ranks constraints, no more."""
    values = request.tool_call["args"].values()
    return " ".join(value for value in values if isinstance(value, str))
