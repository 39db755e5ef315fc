"""
Agents: what tools retrieve is redacted before model, state and checkpointer see it.

A tool is replaced, for one call, by one that runs it out of the tracers' sight and
answers with what may be disclosed, so the tool's own events carry that.

Before every model call the tool messages of every turn are looked at: one that was not
redacted under this policy, for this principal, is redacted then. The arguments of tool
calls are never rewritten. A call and what comes of it are under one policy, that of its
start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from langchain_sdrag.effects import Model
from langchain_sdrag.quiet_tool import QuietTool
from langchain_sdrag.selective_disclosure_compressor import (
    SelectiveDisclosureCompressor,
)
from langchain_sdrag.tool_messages import mark_of, put_together, retrieved_in, seen_by
from sdrag.calls import Limits
from sdrag.errors import UsageError
from sdrag.extras import needs
from sdrag.hosting import Audit, Authorizer, Escalate
from sdrag.judges import Scorer
from sdrag.policy import PolicySource
from sdrag.principals import acting_as, current_principal
from sdrag.state import StateSource
from sdrag.vocabulary import Principal

with needs("agents", "SelectiveDisclosureMiddleware"):
    from langchain.agents.middleware import AgentMiddleware, AgentState
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.runtime import Runtime
    from langgraph.types import Command

__all__ = ["ContextResolver", "SelectiveDisclosureMiddleware"]

ContextResolver = Callable[[Any], Principal | None]
"""Takes the runtime context of the agent."""

Found = ToolMessage | Command[Any]
_Redactor = SelectiveDisclosureCompressor


class SelectiveDisclosureMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """
    Keep of what tools return what the policy lets be disclosed.

    Example:
        ```python
        agent = create_agent(
            model,
            tools,
            middleware=[SelectiveDisclosureMiddleware(policy="policy.yaml")],
        )
        agent.invoke(messages, context={"principal": Principal("ada")})
        ```

    Args:
        policy: A path, a `PolicyFile`, a mapping or a `Policy`.
        tools: The names of the tools that retrieve; by default all are taken to.
        llm: As for `SelectiveDisclosureRetriever`, like all that follow.
        embeddings: Compares constraints with passages.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved.
        authorize: The host's own answer to who may see what.
        scorer: A cross-encoder, for a policy that reranks.
        classifier: Gives pairs of a text and nothing the probability of an injection.
        contradiction: Gives pairs of premise and hypothesis the probability that they
            contradict each other, where the policy says `method: nli`.
        escalate: Told where a contradiction withholds the answer.
        audit: Takes the audit events.
        limits: The bounds of model calls.
        principal_resolver: Finds the principal in the runtime context; by default it
            stands there under `principal`, or is that of `acting_as`.
    """

    def __init__(
        self,
        *,
        policy: PolicySource,
        tools: Collection[str] | None = None,
        llm: Model | None = None,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        authorize: Authorizer | None = None,
        scorer: Scorer = None,
        classifier: Scorer = None,
        contradiction: Scorer = None,
        escalate: Escalate | None = None,
        audit: Audit = None,
        limits: Limits | None = None,
        principal_resolver: ContextResolver | None = None,
    ) -> None:
        super().__init__()
        if isinstance(tools, str):
            raise UsageError("`tools` is a collection of names, not one string.")
        self._names = None if tools is None else frozenset(tools)
        self._resolver = principal_resolver or _in_context
        self._redactor = SelectiveDisclosureCompressor(
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
            principal_resolver=lambda _: current_principal(),
        )

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy in force says."""
        return self._redactor.policy_hash

    def reload(self) -> bool:
        """
        Read the policy's file again, as `SelectiveDisclosureRetriever.reload` does.

        Returns:
            Whether the file's policy is in force now.

        Raises:
            UsageError: The policy comes from no file.
        """
        return self._redactor.reload()

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Found]
    ) -> Found:
        """Run the tool out of sight, and answer with what may be disclosed."""
        tool = request.tool
        if tool is None or not self._guards(tool.name):
            return handler(request)
        redactor = self._redactor.fixed()

        def redact(found: Any) -> Any:
            return self._judged(found, request, redactor)

        quiet = _quiet(tool, redactor, redact=redact)
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
        redactor = await self._redactor.afixed()

        async def aredact(found: Any) -> Any:
            return await self._ajudged(found, request, redactor)

        quiet = _quiet(tool, redactor, aredact=aredact)
        return await handler(request.override(tool=quiet))

    def before_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Redact the tool messages of earlier turns that were not."""
        redactor = self._redactor.fixed()
        unseen = self._unseen(state, runtime, redactor)
        messages = [self._message(one, "", runtime, redactor) for one in unseen]
        return {"messages": messages} if messages else None

    async def abefore_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Redact them without blocking the event loop."""
        redactor = await self._redactor.afixed()
        unseen = self._unseen(state, runtime, redactor)
        messages = [await self._amessage(one, "", runtime, redactor) for one in unseen]
        return {"messages": messages} if messages else None

    def _guards(self, name: str | None) -> bool:
        return self._names is None or name is None or name in self._names

    def _unseen(
        self, state: AgentState[Any], runtime: Any, redactor: _Redactor
    ) -> list[ToolMessage]:
        """Return the tool messages without the mark of this policy and principal."""
        mark = mark_of(redactor.policy, self._principal(runtime))
        return [
            message
            for message in state["messages"]
            if isinstance(message, ToolMessage)
            and self._guards(message.name)
            and not seen_by(message, mark)
        ]

    def _judged(self, found: Any, request: ToolCallRequest, redactor: _Redactor) -> Any:
        asked, runtime = _question(request), request.runtime
        if isinstance(found, ToolMessage):
            return self._message(_named(found, request), asked, runtime, redactor)
        judged = [
            self._message(_named(message, request), asked, runtime, redactor)
            for message in _messages(found)
        ]
        return Command(graph=found.graph, update={"messages": judged}, goto=found.goto)

    async def _ajudged(
        self, found: Any, request: ToolCallRequest, redactor: _Redactor
    ) -> Any:
        asked, runtime = _question(request), request.runtime
        if isinstance(found, ToolMessage):
            named = _named(found, request)
            return await self._amessage(named, asked, runtime, redactor)
        judged = [
            await self._amessage(_named(message, request), asked, runtime, redactor)
            for message in _messages(found)
        ]
        return Command(graph=found.graph, update={"messages": judged}, goto=found.goto)

    def _message(
        self, message: ToolMessage, asked: str, runtime: Any, redactor: _Redactor
    ) -> ToolMessage:
        policy, principal = redactor.policy, self._principal(runtime)
        with acting_as(principal):
            documents = retrieved_in(message, policy)
            released = redactor.compress_documents(documents, asked)
        return put_together(message, released, mark_of(policy, principal))

    async def _amessage(
        self, message: ToolMessage, asked: str, runtime: Any, redactor: _Redactor
    ) -> ToolMessage:
        policy, principal = redactor.policy, self._principal(runtime)
        with acting_as(principal):
            documents = retrieved_in(message, policy)
            released = await redactor.acompress_documents(documents, asked)
        return put_together(message, released, mark_of(policy, principal))

    def _principal(self, runtime: Any) -> Principal | None:
        found: object = self._resolver(getattr(runtime, "context", None))
        if found is None or isinstance(found, Principal):
            return found
        raise UsageError(
            f"The principal is a {type(found).__name__}.",
            hint="Make it a sdrag.Principal where the user is authenticated.",
        )


def _quiet(tool: BaseTool, redactor: _Redactor, **hooks: Any) -> QuietTool:
    return QuietTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        inner=tool,
        policy=redactor.policy,
        **hooks,
    )


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


def _named(message: ToolMessage, request: ToolCallRequest) -> ToolMessage:
    """Give a message its tool's name and no id: a tool can put text into both."""
    return message.model_copy(update={"id": None, "name": request.tool_call["name"]})


def _messages(found: Any) -> Sequence[ToolMessage]:
    """
    Return the tool messages of a command.

    Raises:
        UsageError: It writes more than them into the state, which nobody judges.
    """
    update = getattr(found, "update", None)
    if not isinstance(found, Command) or not isinstance(update, Mapping):
        raise UsageError("A guarded tool returned what cannot be redacted.")
    messages = update.get("messages", ())
    only_messages = all(isinstance(message, ToolMessage) for message in messages)
    if set(update) - {"messages"} or not only_messages or _sends(found):
        raise UsageError(
            "A guarded tool writes more into the state than its messages.",
            hint="Name the tools that retrieve as `tools`, and keep this one out.",
        )
    return list(messages)


def _sends(command: Command[Any]) -> bool:
    """Say whether a command hands a node a state of its own."""
    goto: Any = command.goto
    places = goto if isinstance(goto, (list, tuple)) else [goto]
    return not all(isinstance(place, str) for place in places)
