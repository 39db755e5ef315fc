"""
The answer hook: a chain's `prompt | llm`, replaced by Highlight & Summarize.

The model that words the answer never reads the question. It takes the shape that
`create_stuff_documents_chain` takes: `{"question": str, "context": documents}`. A
context that is one string is refused, since nothing in it could be cited or separated.

Put `SelectiveDisclosureRetriever` before it where the policy has constraints: a
highlighter's prompt holds the question, so it must not hold what is withheld. What the
retriever released under the same policy has a keyed stamp in its evidence. Anything
else is refused, and no model is called.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import Field, PrivateAttr

from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.models import Model, detach, messages
from langchain_sdrag.tracing import hide_from_tracers
from langchain_sdrag.wrapping import TracedRunnable, Work, Wrapper, enforce
from sdrag.configuration import Stage
from sdrag.effects.callers import Caller, call_async, call_sync, iterate_sync
from sdrag.effects.prompts import Prompt
from sdrag.engine import Engine
from sdrag.errors import UsageError
from sdrag.highlight.answering import answer
from sdrag.highlight.exchange import Ending, Highlighter, Inquiry
from sdrag.highlight.streaming import StreamHost, stream
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.wrapper import (
    choose_highlighter,
    cite,
    label_question,
    make_settings,
    seal_stream,
)

_QUESTION_KEYS = ("question", "input", "query")
"""How LangChain's chains name the question, the commonest first."""

Inputs = Mapping[str, Any]
Output = str | dict[str, Any]
"""
The answer; or, with its sources, `{"answer": str, "sources": documents, "declined":
bool, "reason": str}`. A stream ends with the last two.
"""


class HighlightAndSummarize(
    TracedRunnable[Inputs, Output], Wrapper, RunnableSerializable[Inputs, Output]
):
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
        state: That of the retriever, where it is on disk: its key makes the stamps.
        options: Sinks of audit events, and limits.
        highlighter: A highlighter, or `baseline`, `structured` (the default with a
            model), `two_steps`, `span` or `local` (the default without).
        return_sources: Give the highlights with the answer, as documents, and how it
            ended: whether it declines, and why it declines or is quoted (a code of
            `docs/reference/reasons.md`).

    Raises:
        PolicyError: The policy cannot be read.
    """

    _stage: ClassVar[Stage] = "highlight"
    _highlighter: Highlighter = PrivateAttr()

    return_sources: bool = Field(default=False, frozen=True)

    def __init__(
        self,
        policy: PolicySource | None = None,
        llm: Model | None = None,
        *,
        state: StateSource = None,
        options: Options | None = None,
        highlighter: Highlighter | str | None = None,
        return_sources: bool = False,
    ) -> None:
        source = {} if policy is None else policy
        fields = {"return_sources": return_sources}
        self._set_up(source, llm, None, state, options, **fields)
        self._highlighter = choose_highlighter(self.in_force(), highlighter)

    def stream(
        self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        """Stream the summarizer's answer; sources, if asked for, come before it."""
        engine, asked = self._read(input)

        def work(_: object, run_manager: Any) -> Iterator[Output]:
            run = run_manager.get_child()
            return iterate_sync(self._stream(call_sync, engine, asked, run))

        traced = iter([_count(asked)])
        yield from self._transform_stream_with_config(traced, work, config, **kwargs)

    async def astream(
        self, input: Inputs, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        """Stream without blocking the event loop."""
        engine, asked = self._read(input)

        def work(_: object, run_manager: Any) -> AsyncIterator[Output]:
            return self._stream(call_async, engine, asked, run_manager.get_child())

        async def trace() -> AsyncIterator[dict[str, int]]:
            yield _count(asked)

        outputs = self._atransform_stream_with_config(trace(), work, config, **kwargs)
        async for output in outputs:
            yield output

    def _read(self, given: Inputs) -> tuple[Engine, Inquiry]:
        """
        Read a question, under the first of its keys, and documents.

        Raises:
            UsageError: The input is something else.
        """
        questions = (given[key] for key in _QUESTION_KEYS if key in given)
        question, context = next(questions, None), given.get("context")
        if not isinstance(question, str) or isinstance(context, str):
            raise UsageError(
                "The input is a question and documents.",
                hint="Pass the question as 'question', 'input' or 'query', and the"
                " documents, unformatted, as 'context'.",
            )
        engine = self.in_force()
        return engine, label_question(question, passages_of(context or ()), engine)

    def _prepare(self, given: Inputs) -> tuple[dict[str, int], Work]:
        engine, asked = self._read(given)

        async def respond(do: Caller, run: BaseCallbackManager) -> Output:
            steps = answer(asked, make_settings(engine, self._highlighter))
            answered = await enforce(do, engine, steps, run)
            if not self.return_sources:
                return answered.text
            sources = documents_of(cite(answered.highlights, asked))
            ending = answered.ending.as_dict()
            return {"answer": answered.text, "sources": sources, **ending}

        return _count(asked), respond

    async def _stream(
        self, do: Caller, engine: Engine, asked: Inquiry, run: BaseCallbackManager
    ) -> AsyncGenerator[Output, None]:
        """Put each piece into the shape that the parts of a stream are added in."""
        host = StreamHost(
            do,
            engine.runner(),
            partial(hide_from_tracers, engine.policy, run),
            partial(_chunks, do, detach(engine.llm)),
            lambda steps: enforce(do, engine, steps, run),
        )
        pieces = stream(asked, make_settings(engine, self._highlighter), host)
        async for piece in seal_stream(pieces):
            if isinstance(piece, str):
                yield {"answer": piece} if self.return_sources else piece
            elif not self.return_sources:
                continue
            elif isinstance(piece, Ending):
                yield piece.as_dict()
            else:
                yield {"sources": documents_of(cite(piece, asked))}


def _count(asked: Inquiry) -> dict[str, int]:
    return {"passages": len(asked.passages)}


def _chunks(do: Caller, llm: Model, prompt: Prompt) -> Any:
    """Ask a model for a reply in chunks."""
    if do is call_sync:
        return (_text(chunk) for chunk in llm.stream(messages(prompt)))
    return (_text(chunk) async for chunk in llm.astream(messages(prompt)))


def _text(chunk: Any) -> str:
    return chunk if isinstance(chunk, str) else str(chunk.text)
