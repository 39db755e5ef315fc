"""What LlamaIndex wrappers share: framework, events, principal, how they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index_instrumentation import get_dispatcher

from llamaindex_sdrag.models import complete, context_window, embed, model_name
from llamaindex_sdrag.tracing import hide_from_tracers
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, HostSearch
from sdrag.errors import UsageError
from sdrag.framework import Framework
from sdrag.principals import (
    acting_as,
    check_principal,
    current_principal,
    current_session,
)
from sdrag.vocabulary import Principal
from sdrag.wrapper import ReloadableWrapper

_dispatcher = get_dispatcher(__name__)
T = TypeVar("T")
LLAMAINDEX = Framework(complete, embed, model_name, context_window, hide_from_tracers)


class DisclosureEvent(BaseEvent):
    """What one request decided: an `AuditEvent` of the core, without content."""

    stage: str
    policy_hash: str
    decisions: tuple[dict[str, Any], ...]
    seconds: float
    model_calls: int
    tokens_in: int
    tokens_out: int
    round_trips: int
    model_failures: tuple[str, ...]
    principal: str
    request_id: str

    @classmethod
    def class_name(cls) -> str:
        """Return the name that handlers know the event by."""
        return "DisclosureEvent"


async def enforce(
    do: Caller,
    engine: Engine,
    steps: Steps[T],
    principal: Principal | None,
    search: HostSearch | None = None,
) -> T:
    """Drive the steps of a principal's request out of sight; announce what it did."""
    with acting_as(principal, current_session()):
        result, event = await do(engine.run, engine.arun, steps, search=search)
    _dispatcher.event(DisclosureEvent(**engine.public(event).as_dict()))
    return result


def principal_of(engine: Engine, bundle: QueryBundle | None) -> Principal | None:
    """Find the principal: a resolver's, which decides alone, or that of `acting_as`."""
    resolver = engine.options.principal_resolver
    return check_principal(resolver(bundle)) if resolver else current_principal()


def check_question(given: object) -> None:
    """Refuse what is no question, before the framework quotes it in an error."""
    if not isinstance(given, (str, QueryBundle)):
        raise UsageError(
            f"A {type(given).__name__} is no question.",
            hint="Pass a str or a QueryBundle.",
        )


class NodeSynthesizer(ReloadableWrapper, BaseSynthesizer):
    """A synthesizer over nodes: text chunks have no ids, so none could be cited."""

    _framework = LLAMAINDEX

    def synthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> Any:
        """Answer a question from nodes."""
        check_question(query)
        others = {"additional_source_nodes": additional_source_nodes} | response_kwargs
        return run_sync(self._respond(call_sync, query, nodes, others))

    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> Any:
        """Answer without blocking the event loop."""
        check_question(query)
        others = {"additional_source_nodes": additional_source_nodes} | response_kwargs
        return await self._respond(call_async, query, nodes, others)

    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        """Refuse: text chunks have no ids, and metadata baked into them."""
        raise UsageError("This synthesizer reads nodes.", hint="Call `synthesize`.")

    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        """Refuse, as `get_response`."""
        raise UsageError("This synthesizer reads nodes.", hint="Call `asynthesize`.")

    async def _respond(
        self,
        do: Caller,
        query: QueryType,
        nodes: list[NodeWithScore],
        others: dict[str, Any],
    ) -> RESPONSE_TYPE:
        """Answer; `others` are the other arguments of the call."""
        raise NotImplementedError


class SynthesizerWrapper(NodeSynthesizer):
    """A wrapper of a synthesizer; its prompts are those of the one that answers."""

    _synthesizer: BaseSynthesizer

    def _get_prompts(self) -> PromptDictType:
        return self._synthesizer._get_prompts()  # noqa: SLF001 -- the mixin's own way

    def _update_prompts(self, prompts: PromptDictType) -> None:
        self._synthesizer._update_prompts(prompts)  # noqa: SLF001 -- as above
