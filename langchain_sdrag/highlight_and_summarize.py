"""
The answer hook: a chain's `prompt | llm`, replaced by Highlight & Summarize.

The model that words the answer never reads the question. It takes the shape that
`create_stuff_documents_chain` takes: `{"question": str, "context": documents}`. A
context that is one string is refused, since nothing in it could be cited or separated.

Put `SelectiveDisclosureRetriever` before it where the policy has constraints: a
highlighter's prompt holds the question, so it must not hold what is withheld. What the
retriever released under the same policy has a keyed mark in its evidence. Anything else
is refused, and no model is called.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import Field, PrivateAttr

from langchain_sdrag.auditing import aannounce, announce
from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.effects import Model, detach
from langchain_sdrag.tracing import hide_from_tracers
from langchain_sdrag.wrapping import Wrapper
from sdrag.effects.prompts import Prompt
from sdrag.effects.runner import PortRunner
from sdrag.effects.steps import Steps
from sdrag.engine import Stage
from sdrag.errors import UsageError
from sdrag.highlight.answering import answer
from sdrag.highlight.exchange import (
    Answer,
    Asked,
    Ending,
    Highlighter,
    Plan,
    Settings,
)
from sdrag.highlight.streaming import StreamHost, astream, stream
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import Highlight
from sdrag.wrapper import asealed_stream, asked_of, sealed_stream, settings_of

__all__ = ["HighlightAndSummarize"]

_QUESTION_KEYS = ("question", "input", "query")
"""How LangChain's chains name the question, the commonest first."""

Output = str | dict[str, Any]
"""
The answer; or, with its sources, `{"answer": str, "sources": documents, "declined":
bool, "reason": str, "unanswered": [int]}`. A stream ends with the last three.
"""


class HighlightAndSummarize(Wrapper, RunnableSerializable[Mapping[str, Any], Output]):
    """
    Answer from verified highlights, with a model that is blind to the question.

    Example:
        ```python
        chain = {"context": retriever, "question": RunnablePassthrough()} | (
            HighlightAndSummarize(llm=llm)
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
        return_sources: Give the highlights with the answer, as documents, and how it
            ended: whether something was declined, why it was or is flagged (a code of
            `docs/reasons.md`), and which of several questions are unanswered.
        question_key: Of the input; the first of `question`, `input` and `query` that
            there is when missing. `create_retrieval_chain` uses `input`.

    Raises:
        PolicyError: The policy cannot be read.
    """

    _stage: ClassVar[Stage] = "highlight"
    _settings: Settings = PrivateAttr()

    highlighter: Any = Field(default=None, exclude=True, repr=False, frozen=True)
    return_sources: bool = Field(default=False, frozen=True)
    question_key: str | None = Field(default=None, frozen=True)

    def __init__(
        self,
        policy: PolicySource | None = None,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
        highlighter: Highlighter | str | None = None,
        return_sources: bool = False,
        question_key: str | None = None,
    ) -> None:
        super().__init__(
            {} if policy is None else policy,
            llm,
            embeddings,
            state,
            options,
            highlighter=highlighter,
            return_sources=return_sources,
            question_key=question_key,
        )

    def _derive(self) -> None:
        has_model = self.engine.llm is not None
        limits = self.engine.limits
        self._settings = settings_of(
            self.policy, self.highlighter, has_model=has_model, limits=limits
        )

    def invoke(
        self,
        input: Mapping[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Output:
        """Answer; the run's own trace holds the number of passages, and the answer."""
        asked = self._asked(input)

        def work(_: object, run_manager: Any) -> Output:
            child = run_manager.get_child()
            steps = answer(asked, self._settings)
            answered, event = self.engine.run(
                steps, hide_from_tracers(self.policy, child)
            )
            announce(event, child)
            return self._output(answered, asked)

        return self._call_with_config(work, _counted(asked), config, **kwargs)

    async def ainvoke(
        self,
        input: Mapping[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Output:
        """Answer without blocking the event loop."""
        asked = self._asked(input)

        async def work(_: object, run_manager: Any) -> Output:
            child = run_manager.get_child()
            steps = answer(asked, self._settings)
            answered, event = await self.engine.arun(
                steps, hide_from_tracers(self.policy, child)
            )
            await aannounce(event, child)
            return self._output(answered, asked)

        return await self._acall_with_config(work, _counted(asked), config, **kwargs)

    def stream(
        self,
        input: Mapping[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Output]:
        """Stream the summarizer's answer; sources, if asked for, come before it."""
        asked = self._asked(input)

        def work(_: object, run_manager: Any) -> Iterator[Output]:
            child = run_manager.get_child()
            hidden = partial(hide_from_tracers, self.policy, child)

            def conclude(steps: Steps[Answer]) -> Answer:
                answered, event = self.engine.run(steps, hidden())
                announce(event, child)
                return answered

            host = StreamHost(self._runner, hidden, self._chunks, conclude)
            parts = 0
            for piece in sealed_stream(stream(asked, self._settings, host)):
                parts += isinstance(piece, Plan)
                yield from self._piece(piece, asked, parts)

        given = iter([_counted(asked)])
        yield from self._transform_stream_with_config(given, work, config, **kwargs)

    async def astream(
        self,
        input: Mapping[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Output]:
        """Stream without blocking the event loop."""
        asked = self._asked(input)

        async def work(_: object, run_manager: Any) -> AsyncIterator[Output]:
            child = run_manager.get_child()
            hidden = partial(hide_from_tracers, self.policy, child)

            async def conclude(steps: Steps[Answer]) -> Answer:
                answered, event = await self.engine.arun(steps, hidden())
                await aannounce(event, child)
                return answered

            host = StreamHost(self._runner, hidden, self._achunks, conclude)
            parts = 0
            async for piece in asealed_stream(astream(asked, self._settings, host)):
                parts += isinstance(piece, Plan)
                for output in self._piece(piece, asked, parts):
                    yield output

        async def given() -> AsyncIterator[dict[str, int]]:
            yield _counted(asked)

        pieces = self._atransform_stream_with_config(given(), work, config, **kwargs)
        async for piece in pieces:
            yield piece

    @property
    def _runner(self) -> PortRunner:
        return PortRunner(self.engine.ports, self.engine.limits)

    def _chunks(self, prompt: Prompt) -> Iterator[str]:
        for chunk in detach(self.engine.llm).stream(_messages(prompt)):
            yield _said(chunk)

    async def _achunks(self, prompt: Prompt) -> AsyncIterator[str]:
        async for chunk in detach(self.engine.llm).astream(_messages(prompt)):
            yield _said(chunk)

    def _asked(self, given: Mapping[str, Any]) -> Asked:
        """
        Read the input.

        Raises:
            UsageError: It is not a question and documents.
        """
        question, context = self._question(given), given.get("context")
        if not isinstance(question, str) or isinstance(context, str):
            keys = " or ".join(map(repr, self._question_keys()))
            raise UsageError(
                "The input is a question and documents.",
                hint=f"Pass the question as {keys}, and the documents, unformatted,"
                " as 'context'.",
            )
        passages = passages_of(context or ())
        return asked_of(question, passages, self.engine)

    def _question_keys(self) -> tuple[str, ...]:
        return (self.question_key,) if self.question_key else _QUESTION_KEYS

    def _question(self, given: Mapping[str, Any]) -> object:
        """Return what stands under the first key that the input has."""
        keys = (key for key in self._question_keys() if key in given)
        return given.get(next(keys, ""))

    def _output(self, answered: Answer, asked: Asked) -> Output:
        if not self.return_sources:
            return answered.text
        return {
            "answer": answered.text,
            "sources": _sources(answered.highlights, asked),
            **answered.ending.as_dict(),
        }

    def _piece(
        self, piece: str | Plan | Ending, asked: Asked, parts: int
    ) -> Iterator[Output]:
        """Put a piece into the shape that the parts of a stream are added in."""
        if isinstance(piece, Ending):
            if self.return_sources:
                yield piece.as_dict()
            return
        if isinstance(piece, Plan):
            if self.return_sources:
                yield {"sources": _sources(piece.highlights, asked)}
            if parts > 1:
                yield {"answer": "\n\n"} if self.return_sources else "\n\n"
            return
        yield {"answer": piece} if self.return_sources else piece


def _counted(asked: Asked) -> dict[str, int]:
    """Say to the tracer what was asked: nothing but how much."""
    return {"passages": len(asked.passages)}


def _messages(prompt: Prompt) -> list[tuple[str, str]]:
    return [(message.role, message.content.text) for message in prompt.messages]


def _said(chunk: Any) -> str:
    return chunk if isinstance(chunk, str) else str(chunk.text)


def _sources(highlights: Sequence[Highlight], asked: Asked) -> list[Document]:
    """Give each highlight as a document, with the metadata of its passage."""
    passages = {passage.id: passage for passage in asked.passages}
    return documents_of(
        [
            replace(passages[one.passage_id], text=one.text, score=None)
            for one in highlights
        ]
    )
