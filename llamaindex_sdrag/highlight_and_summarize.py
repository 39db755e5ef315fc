"""
The answer hook: a response synthesizer that is blind to the question.

The model that words the answer reads verified highlights and nothing else. The base
class hands `get_response` texts with metadata baked in and without ids, so `synthesize`
and `asynthesize` are overridden: nodes come in, and what leaves as `source_nodes` are
the highlights, on nodes built anew. Where something was declined or flagged, the
response's metadata says so under `sdrag`: `declined`, `reason` and `unanswered`, the
numbers of those of several questions that were not answered. Of a stream they are known
when it has ended.

Put `SelectiveDisclosureRetriever` before it where the policy has constraints: a
highlighter's prompt holds the question, so it must not hold what is withheld. What the
retriever released under the same policy has a keyed mark in its evidence. Anything else
is refused, and no model is called. A chat engine of mode
condense-plus-context builds its own synthesizer and cannot be given this one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
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
from llama_index.core.llms import LLM, ChatMessage, MessageRole, MockLLM
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index_instrumentation import get_dispatcher

from llamaindex_sdrag.auditing import announce
from llamaindex_sdrag.convert import nodes_of, passages_of
from llamaindex_sdrag.tracing import hide_from_tracers, mute
from llamaindex_sdrag.wrapping import LLAMAINDEX
from sdrag.effects.prompts import Prompt
from sdrag.effects.runner import PortRunner
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.errors import UsageError
from sdrag.highlight.answering import answer
from sdrag.highlight.exchange import (
    Answer,
    Asked,
    Ending,
    Highlighter,
    Plan,
)
from sdrag.highlight.streaming import StreamHost, astream, stream
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.privacy.audit import AuditEvent
from sdrag.state import StateSource
from sdrag.vocabulary import EVIDENCE_KEY, Confidential, Highlight, Passage
from sdrag.wrapper import (
    Unpickled,
    asealed_stream,
    asked_of,
    sealed_stream,
    settings_of,
)

__all__ = ["HighlightAndSummarize"]

_dispatcher = get_dispatcher(__name__)
Piece = str | Plan | Ending
"""What a stream yields."""


class HighlightAndSummarize(Unpickled, BaseSynthesizer):
    """
    Answer from verified highlights, with a model that is blind to the question.

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
        embeddings: Measures divergence; the packaged MiniLM by default.
        state: That of the retriever, where it is on disk: its key makes the marks.
        options: Sinks of audit events, and limits.
        highlighter: A highlighter, or `baseline`, `structured` (the default with a
            model), `two_steps`, `span` or `local` (the default without).
        streaming: Answer with a stream of the summarizer's answer.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: An argument is not what it must be.
    """

    def __init__(
        self,
        policy: PolicySource | None = None,
        llm: LLM | None = None,
        *,
        embeddings: BaseEmbedding | None = None,
        state: StateSource = None,
        options: Options | None = None,
        highlighter: Highlighter | str | None = None,
        streaming: bool = False,
    ) -> None:
        self._engine = Engine(
            {} if policy is None else policy,
            llm,
            embeddings,
            state,
            options,
            stage="highlight",
            framework=LLAMAINDEX,
        )
        rules, self._model = self._engine.policy, self._engine.llm
        has_model = self._model is not None
        limits = self._engine.limits
        self._answering = settings_of(
            rules, highlighter, has_model=has_model, limits=limits
        )
        # The base class would fall back on the global model; it gets one that is mute.
        super().__init__(
            llm=MockLLM(),
            streaming=streaming,
            empty_response=rules.highlight.decline_text,
        )

    def __repr__(self) -> str:
        return f"HighlightAndSummarize(policy_hash={self._engine.policy_hash!r})"

    def synthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        """Answer; nodes that were only to be shown with the answer are left out."""
        del additional_source_nodes, response_kwargs
        _dispatcher.event(SynthesizeStartEvent(query=query))
        asked = self._asked(query, nodes)
        response = self._streamed(asked) if self._streaming else self._answered(asked)
        _dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response

    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        """Answer without blocking the event loop."""
        del additional_source_nodes, response_kwargs
        _dispatcher.event(SynthesizeStartEvent(query=query))
        asked = self._asked(query, nodes)
        response: RESPONSE_TYPE
        if self._streaming:
            response = await self._astreamed(asked)
        else:
            response = _response(await self._arun(asked), asked, self._evidence)
        _dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response

    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        """Answer from texts, which are numbered in place of ids."""
        del response_kwargs
        asked = self._asked_of(query_str, _numbered(text_chunks))
        return self._run(asked).text

    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        """Answer from texts without blocking the event loop."""
        del response_kwargs
        asked = self._asked_of(query_str, _numbered(text_chunks))
        return (await self._arun(asked)).text

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        if prompts:
            raise UsageError("The prompts of Highlight & Summarize are not replaced.")

    def _asked(self, query: QueryType, nodes: Sequence[NodeWithScore]) -> Asked:
        text = query.query_str if isinstance(query, QueryBundle) else query
        return self._asked_of(text, passages_of(nodes))

    def _asked_of(self, question: str, passages: tuple[Passage, ...]) -> Asked:
        return asked_of(question, passages, self._engine)

    def _run(self, asked: Asked) -> Answer:
        steps = answer(asked, self._answering)
        answered, event = self._engine.run(steps, self._cover())
        announce(event)
        return answered

    async def _arun(self, asked: Asked) -> Answer:
        steps = answer(asked, self._answering)
        answered, event = await self._engine.arun(steps, self._cover())
        announce(event)
        return answered

    def _cover(self) -> Any:
        return hide_from_tracers(self._engine.policy)

    def _answered(self, asked: Asked) -> Response:
        return _response(self._run(asked), asked, self._evidence)

    @property
    def _evidence(self) -> str | None:
        return self._engine.policy.metadata.evidence

    @property
    def _runner(self) -> PortRunner:
        return PortRunner(self._engine.ports, self._engine.limits)

    def _streamed(self, asked: Asked) -> StreamingResponse:
        sources = _Sources(asked, self._evidence)

        def conclude(steps: Steps[Answer]) -> Answer:
            answered, event = self._engine.run(steps, self._cover())
            sources.events.append(event)
            return answered

        host = StreamHost(self._runner, self._cover, self._chunks, conclude)
        pieces = sealed_stream(stream(asked, self._answering, host))
        sources.piece(next(pieces))
        texts = _texts(pieces, sources)
        return StreamingResponse(texts, sources.nodes, sources.metadata)

    async def _astreamed(self, asked: Asked) -> AsyncStreamingResponse:
        sources = _Sources(asked, self._evidence)

        async def conclude(steps: Steps[Answer]) -> Answer:
            answered, event = await self._engine.arun(steps, self._cover())
            sources.events.append(event)
            return answered

        host = StreamHost(self._runner, self._cover, self._achunks, conclude)
        pieces = asealed_stream(astream(asked, self._answering, host))
        sources.piece(await anext(pieces))
        texts = _atexts(pieces, sources)
        return AsyncStreamingResponse(texts, sources.nodes, sources.metadata)

    def _chunks(self, prompt: Prompt) -> Iterator[str]:
        if self._model is not None:
            mute(self._model.callback_manager)
            for part in self._model.stream_chat(_messages(prompt)):
                yield part.delta or ""

    async def _achunks(self, prompt: Prompt) -> AsyncIterator[str]:
        if self._model is not None:
            mute(self._model.callback_manager)
            async for part in await self._model.astream_chat(_messages(prompt)):
                yield part.delta or ""


def _response(found: Answer, asked: Asked, evidence: str | None) -> Response:
    nodes = _sources(found.highlights, asked, evidence)
    metadata = {**_metadata(nodes), **_evidence(found.ending)}
    return Response(found.text, nodes, metadata)


def _sources(
    highlights: Sequence[Highlight], asked: Asked, evidence: str | None
) -> list[NodeWithScore]:
    """Give each highlight as a node, with the metadata of its passage."""
    passages = {passage.id: passage for passage in asked.passages}
    return nodes_of(
        [replace(passages[one.passage_id], text=one.text) for one in highlights],
        evidence,
    )


def _metadata(nodes: Sequence[NodeWithScore]) -> dict[str, Any]:
    return {node.node.node_id: node.node.metadata for node in nodes}


def _evidence(ending: Ending) -> dict[str, Any]:
    """Say how an answer ended, where there is something to say."""
    return {EVIDENCE_KEY: ending.as_dict()} if ending.reason else {}


class _Sources(Confidential):
    """
    The sources of a stream: of the first part at once, of others when they begin.

    How it ended is added when it has.

    Args:
        asked: What they are taken from.
        evidence: The key of their evidence.
    """

    def __init__(self, asked: Asked, evidence: str | None) -> None:
        self._asked, self._evidence = asked, evidence
        self.events: list[AuditEvent] = []
        self.nodes: list[NodeWithScore] = []
        self.metadata: dict[str, Any] = {}

    def piece(self, piece: Piece) -> str:
        """Take in a plan's highlights, or the end; gives what leaves as text."""
        if isinstance(piece, str):
            return piece
        if isinstance(piece, Ending):
            self.metadata.update(_evidence(piece))
            return ""
        nodes = _sources(piece.highlights, self._asked, self._evidence)
        self.nodes.extend(nodes)
        self.metadata.update(_metadata(nodes))
        return "\n\n"


def _texts(pieces: Iterator[Piece], sources: _Sources) -> Generator[str, None, None]:
    for piece in pieces:
        if text := sources.piece(piece):
            yield text
    for event in sources.events:
        announce(event)


async def _atexts(
    pieces: AsyncIterator[Piece], sources: _Sources
) -> AsyncGenerator[str, None]:
    async for piece in pieces:
        if text := sources.piece(piece):
            yield text
    for event in sources.events:
        announce(event)


def _numbered(texts: Sequence[str]) -> tuple[Passage, ...]:
    return tuple(Passage(str(number), text) for number, text in enumerate(texts))


def _messages(prompt: Prompt) -> list[ChatMessage]:
    return [
        ChatMessage(role=MessageRole(message.role), content=message.content.text)
        for message in prompt.messages
    ]
