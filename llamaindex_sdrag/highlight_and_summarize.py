"""
The answer hook: a response synthesizer that is blind to the question.

The model that words the answer reads verified highlights and nothing else. The base
class hands `get_response` texts with metadata baked in and without ids, so `synthesize`
and `asynthesize` are overridden: nodes come in, and what leaves as `source_nodes` are
the highlights, on nodes built anew. Where it declines, or quotes in place of a summary
that is not supported, the response's metadata says so under `sdrag`: `declined` and
`reason`. Of a stream they are known when it has ended.

Put `SelectiveDisclosureRetriever` before it where the policy has constraints: a
highlighter's prompt holds the question, so it must not hold what is withheld. What the
retriever released under the same policy has a keyed stamp in its evidence. Anything
else is refused, and no model is called. A chat engine of mode condense-plus-context
builds its own synthesizer and cannot be given this one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.instrumentation.events.synthesis import (
    SynthesizeEndEvent,
    SynthesizeStartEvent,
)
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index_instrumentation import get_dispatcher

from llamaindex_sdrag.convert import nodes_of, passages_of
from llamaindex_sdrag.models import messages
from llamaindex_sdrag.tracing import hide_from_tracers, mute
from llamaindex_sdrag.wrapping import NodeSynthesizer, enforce, principal_of
from sdrag.effects.callers import Caller, call_async, call_sync, iterate_sync
from sdrag.effects.prompts import Prompt
from sdrag.engine import Engine
from sdrag.errors import UsageError
from sdrag.highlight.answering import answer
from sdrag.highlight.exchange import Ending, Highlighter, Inquiry
from sdrag.highlight.streaming import Piece, StreamHost, stream
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import EVIDENCE_KEY, Principal
from sdrag.wrapper import (
    choose_highlighter,
    cite,
    label_question,
    make_settings,
    seal_stream,
)

_dispatcher = get_dispatcher(__name__)


class HighlightAndSummarize(NodeSynthesizer):
    """
    Answer from verified highlights, with a model that is blind to the question.

    Its prompts are not replaced: `get_prompts`, by the hook that LlamaIndex has for
    subclasses, lists none.

    Example:
        ```python
        engine = RetrieverQueryEngine(
            retriever, response_synthesizer=HighlightAndSummarize(llm=llm)
        )
        ```

    Args:
        policy: Its section `highlight` is read; by default the section's own defaults
            hold.
        llm: Highlights and summarizes; without one, both are done locally.
        state: That of the retriever, where it is on disk: its key makes the stamps.
        options: Sinks of audit events, limits and a resolver of principals.
        highlighter: A highlighter, or `baseline`, `structured` (the default with a
            model), `two_steps`, `span` or `local` (the default without).
        streaming: Answer with a stream of the summarizer's answer.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: An argument is not what it must be.
    """

    _stage = "highlight"

    def __init__(
        self,
        policy: PolicySource | None = None,
        llm: LLM | None = None,
        *,
        state: StateSource = None,
        options: Options | None = None,
        highlighter: Highlighter | str | None = None,
        streaming: bool = False,
    ) -> None:
        source = {} if policy is None else policy
        self._set_up(source, llm, None, state, options, streaming=streaming)
        self._highlighter = choose_highlighter(self.in_force(), highlighter)

    def _initialize(self, engine: Engine, fields: dict[str, Any]) -> None:
        # The base class would fall back on the global model; it gets one that is mute.
        decline = engine.policy.highlight.decline_text
        super().__init__(llm=MockLLM(), empty_response=decline, **fields)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        raise UsageError("The prompts of Highlight & Summarize are not replaced.")

    async def _respond(
        self,
        do: Caller,
        query: QueryType,
        nodes: list[NodeWithScore],
        others: dict[str, Any],
    ) -> RESPONSE_TYPE:
        """Answer; nodes that were only to be shown with the answer are left out."""
        del others
        _dispatcher.event(SynthesizeStartEvent(query=query))
        bundle = QueryBundle(query) if isinstance(query, str) else query
        engine = self.in_force()
        principal = principal_of(engine, bundle)
        asked = label_question(bundle.query_str, passages_of(nodes), engine)
        response = await self._answer(do, engine, asked, principal)
        _dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response

    async def _answer(
        self, do: Caller, engine: Engine, asked: Inquiry, asker: Principal | None
    ) -> RESPONSE_TYPE:
        settings = make_settings(engine, self._highlighter)
        evidence = engine.policy.metadata.evidence
        if not self._streaming:
            answered = await enforce(do, engine, answer(asked, settings), asker)
            nodes = nodes_of(cite(answered.highlights, asked), evidence)
            metadata = _metadata(nodes) | _end(answered.ending)
            return Response(answered.text, nodes, metadata)
        host = StreamHost(
            do,
            engine.runner(),
            partial(hide_from_tracers, engine.policy),
            partial(_chunks, do, engine.llm),
            partial(enforce, do, engine, principal=asker),
        )
        pieces = seal_stream(stream(asked, settings, host))
        highlights: Any = await anext(pieces)  # they come before the first word
        nodes = nodes_of(cite(highlights, asked), evidence)
        metadata = _metadata(nodes)
        texts = _texts(pieces, metadata)
        if do is call_async:
            return AsyncStreamingResponse(texts, nodes, metadata)
        return StreamingResponse(iterate_sync(texts), nodes, metadata)


def _metadata(nodes: Sequence[NodeWithScore]) -> dict[str, Any]:
    return {each.node.node_id: each.node.metadata for each in nodes}


def _end(ending: Ending) -> dict[str, Any]:
    """Say how an answer ended, where there is something to say."""
    return {EVIDENCE_KEY: ending.as_dict()} if ending.reason else {}


async def _texts(
    pieces: AsyncGenerator[Piece, None], metadata: dict[str, Any]
) -> AsyncGenerator[str, None]:
    """Yield the text of a stream; the metadata then say how it ended."""
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Ending):
                metadata.update(_end(piece))
            elif isinstance(piece, str) and piece:
                yield piece


def _chunks(do: Caller, llm: LLM, prompt: Prompt) -> Any:
    """Ask a model for a reply in chunks."""
    mute(llm.callback_manager)
    if do is call_sync:
        return (part.delta or "" for part in llm.stream_chat(messages(prompt)))
    return _achunks(llm, prompt)


async def _achunks(llm: LLM, prompt: Prompt) -> AsyncGenerator[str, None]:
    async for part in await llm.astream_chat(messages(prompt)):
        yield part.delta or ""
