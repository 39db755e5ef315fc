"""
Agents: what tools retrieve is redacted before model, state and checkpointer see it.

A tool is replaced, for one call, by one that runs it out of the tracers' sight and
answers with what may be disclosed; see `redacting_tool.py`.

A thread can be shared. Before every model call the messages of every turn are looked
at: one that was not released to this principal under this policy is redacted then, and
replaced in the state. Human messages are left as they are. A call and what comes of it
are under one policy, that of its start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import BaseMessage, ToolMessage

from langchain_sdrag.agent_messages import (
    ReleaseMark,
    answer_with,
    documents_in,
    messages_in,
    needs_release,
    rebuild,
)
from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.effects import Model
from langchain_sdrag.redacting_tool import RedactingTool
from langchain_sdrag.wrapping import LANGCHAIN
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.errors import UsageError, require_extra
from sdrag.options import Options
from sdrag.pipeline import Disclosure, Request, disclose
from sdrag.policy import PolicySource
from sdrag.principals import current_principal
from sdrag.state import StateSource
from sdrag.vocabulary import Confidential, Principal
from sdrag.wrapper import ReloadableWrapper

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

__all__ = ["SelectiveDisclosureMiddleware"]

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
        state: As for the retriever. Its secret is the key of the marks on messages:
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
        super().__init__()
        if isinstance(tools, str):
            raise UsageError("`tools` is a collection of names, not one string.")
        self._names = None if tools is None else frozenset(tools)
        self._name = name or type(self).__name__
        engine = Engine(
            policy,
            llm,
            embeddings,
            state,
            options,
            stage="disclose",
            framework=LANGCHAIN,
        )
        self._resolver = engine.options.principal_resolver or _in_context
        self._follow(engine, policy)

    @property
    def name(self) -> str:
        """The name by which the agent knows the middleware."""
        return self._name

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]
    ) -> Answer:
        """Run the tool out of sight, and answer with what may be disclosed."""
        return handler(self._guard(request))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[Answer]],
    ) -> Answer:
        """Run the tool out of sight, without blocking the event loop."""
        return await handler(self._guard(request))

    def before_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Redact the messages that were not released to this principal."""
        release = self._release(runtime)
        messages = [release.redact(m) for m in self._unreleased(state, release)]
        return {"messages": messages} if messages else None

    async def abefore_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Redact them without blocking the event loop."""
        release = self._release(runtime)
        messages = [await release.aredact(m) for m in self._unreleased(state, release)]
        return {"messages": messages} if messages else None

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Mark what the model says as released to whom it says it."""
        release = self._release(request.runtime)
        return release.mark_response(handler(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Mark it without blocking the event loop."""
        release = self._release(request.runtime)
        return release.mark_response(await handler(request))

    def _guard(self, request: ToolCallRequest) -> ToolCallRequest:
        """Put a tool that redacts in the place of one that is guarded."""
        tool = request.tool
        if tool is None or not self._guards(tool.name):
            return request
        release = self._release(request.runtime, _question(request))
        redacting = RedactingTool(
            name=tool.name,
            description=tool.description,
            args_schema=tool.args_schema,
            inner=tool,
            policy=release.engine.policy,
            redact=partial(release.redact_answer, request),
            aredact=partial(release.aredact_answer, request),
        )
        return request.override(tool=redacting)

    def _guards(self, name: str | None) -> bool:
        return self._names is None or name is None or name in self._names

    def _unreleased(
        self, state: AgentState[Any], release: _Release
    ) -> list[BaseMessage]:
        """Return the messages that were not released under this mark."""
        return [
            message
            for message in state["messages"]
            if needs_release(message)
            and (not isinstance(message, ToolMessage) or self._guards(message.name))
            and not release.mark.stands_on(message)
        ]

    def _release(self, runtime: Any, question: str = "") -> _Release:
        principal: object = self._resolver(getattr(runtime, "context", None))
        if principal is None or isinstance(principal, Principal):
            return _Release(self.in_force(), Request(question, principal))
        raise UsageError(
            f"The principal is a {type(principal).__name__}.",
            hint="Make it a sdrag.Principal where the user is authenticated.",
        )


@dataclass(frozen=True, slots=True, repr=False)
class _Release(Confidential):
    """Redacts messages for one principal under one policy."""

    engine: Engine
    request: Request

    @property
    def mark(self) -> ReleaseMark:
        """The mark of what is released."""
        return ReleaseMark(self.engine, self.request.principal)

    def redact(self, message: BaseMessage, **names: Any) -> BaseMessage:
        """Return the message with what may be disclosed of it, marked."""
        steps = self._steps(documents_in(message, self.engine.policy), message)
        disclosure, _ = self.engine.run(steps)
        released = documents_of(disclosure.passages)
        return self.mark.put_on(rebuild(message, released, **names))

    async def aredact(self, message: BaseMessage, **names: Any) -> BaseMessage:
        """Redact it without blocking the event loop."""
        steps = self._steps(documents_in(message, self.engine.policy), message)
        disclosure, _ = await self.engine.arun(steps)
        released = documents_of(disclosure.passages)
        return self.mark.put_on(rebuild(message, released, **names))

    def redact_answer(self, call: ToolCallRequest, answer: Any) -> Any:
        """Redact what a tool answers, under the ids and names of its call."""
        released = {
            id(m): self.redact(m, **_names(call)) for m in messages_in(answer, call)
        }
        return answer_with(answer, call, released)

    async def aredact_answer(self, call: ToolCallRequest, answer: Any) -> Any:
        """Redact it without blocking the event loop."""
        released = {
            id(m): await self.aredact(m, **_names(call))
            for m in messages_in(answer, call)
        }
        return answer_with(answer, call, released)

    def mark_response(self, response: ModelResponse[Any]) -> ModelResponse[Any]:
        """Mark the messages of a response, but for those of the human."""
        marked = [
            self.mark.put_on(message) if needs_release(message) else message
            for message in response.result
        ]
        return replace(response, result=marked)

    def _steps(
        self, documents: Sequence[Document], message: BaseMessage
    ) -> Steps[Disclosure]:
        disclosure = yield from disclose(
            passages_of(documents), self.request, self.engine
        )
        tool = message.name or "" if isinstance(message, ToolMessage) else None
        return replace(disclosure, tool=tool)


def _names(request: ToolCallRequest) -> dict[str, Any]:
    """Return the id and the name that messages of a tool get: those of its call."""
    call = request.tool_call
    return {"id": None, "name": call["name"], "tool_call_id": call["id"]}


def _in_context(context: Any) -> Principal | None:
    """Find the principal in a mapping or an object, else in this context."""
    if isinstance(context, Mapping):
        principal = context.get("principal")
    else:
        principal = getattr(context, "principal", None)
    return principal or current_principal()


def _question(request: ToolCallRequest) -> str:
    """Return what the model asked the tool; it ranks constraints, no more."""
    values = request.tool_call["args"].values()
    return " ".join(value for value in values if isinstance(value, str))
