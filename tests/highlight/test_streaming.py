"""Streaming releases the answer and nothing else, and only once it was judged."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdrag.effects.prompts import Label, Labelled, Prompt
from sdrag.effects.steps import Steps, arun, run
from sdrag.engine import sealed_stream
from sdrag.errors import ModelError, PromptSanitizationError
from sdrag.highlight.exchange import (
    Answer,
    Asked,
    Context,
    Ending,
    Plan,
    Proposal,
    Settings,
)
from sdrag.highlight.streaming import StreamHost, astream, stream
from sdrag.policy import HighlightSection
from sdrag.testing import Scripted
from sdrag.vocabulary import Passage

TEXT = "The deposit is paid back within ten days of the return."
GUESS = "When is the deposit paid back?"
ASKED = Asked(GUESS, (Passage("p", TEXT),))
DECLINE = HighlightSection().decline_text


def highlighter(question: Labelled, context: Context) -> Steps[Proposal]:
    yield from ()
    return Proposal((TEXT,))


def pieces(chunks: list[str], asked: Asked = ASKED, **rules: object) -> list[str]:
    """Stream a reply in chunks; an exception among them is raised in its place."""
    section = HighlightSection.model_validate(rules)
    runner = Scripted()

    def replying(prompt: Prompt) -> Iterator[str]:
        for chunk in chunks:
            if chunk == "BREAK":
                raise ConnectionError(chunk)
            yield chunk

    def conclude(steps: Steps[Answer]) -> Answer:
        return run(steps, runner)

    host = StreamHost(runner, nullcontext, replying, conclude)
    held = Settings(highlighter, section, has_model=True)
    found = list(sealed_stream(stream(asked, held, host)))
    assert [isinstance(item, Ending) for item in found].index(True) == len(found) - 1
    return [item for item in found if isinstance(item, str)]


def reply(answer: str, guesses: list[str] | None = None) -> str:
    return json.dumps({"guessed_questions": guesses or [GUESS], "answer": answer})


@given(st.text(min_size=1, max_size=60), st.data())
@settings(max_examples=150, deadline=None)
def test_any_cut_of_the_reply_gives_the_answer(
    answer: str, data: st.DataObject
) -> None:
    """Wherever the chunks are cut, what leaves is the answer, to the letter.

    Whitespace around it stays behind, as it does without streaming.
    """
    if not answer.strip():
        return
    whole = reply(answer)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    edges = [0, *cuts, len(whole)]
    chunks = [whole[a:b] for a, b in pairwise(edges)]

    assert "".join(pieces(chunks)) == answer.strip()


def test_it_streams() -> None:
    """The answer leaves as it comes, not when it has ended."""
    assert len(pieces(list(reply("In ten days.")))) > 5


def test_divergence_is_judged_before_the_first_word() -> None:
    """An answer to another question does not begin to leave."""
    chunks = list(reply("SECRET", ["What is the airspeed of a swallow?"]))

    assert pieces(chunks, on_divergence="decline", min_similarity=0.9) == [DECLINE]


@pytest.mark.parametrize(
    "chunks",
    [
        ['{"answer": "SECRET", "guessed_questions": ["Swallows?"]}'],
        ['{"extra": 1, "guessed_questions": ["Swallows?"], "answer": "SECRET"}'],
        ['{"guessed_questions": ["Swallows?"], "note": "x", ', '"answer": "SECRET"}'],
    ],
)
def test_another_order_is_held_back_and_judged(chunks: list[str]) -> None:
    """A reply that puts the answer first is judged before any of it leaves."""
    assert pieces(chunks, on_divergence="decline", min_similarity=0.9) == [DECLINE]


@pytest.mark.parametrize(
    "chunks", [[], [""], ["SECRET"], ['{"guessed_questions": ["x"'], [reply(" ")]]
)
def test_no_answer_declines(chunks: list[str]) -> None:
    """What is no answer is not released, and not left empty."""
    assert pieces(chunks) == [DECLINE]


def test_what_is_not_the_answer_never_leaves() -> None:
    """A guess that looks like an answer is a guess."""
    chunks = list(reply("Yes.", ['"answer": "SECRET"', GUESS]))

    assert "".join(pieces(chunks)) == "Yes."


def test_a_break_before_the_answer_declines() -> None:
    """Nothing has left, so the host's text can."""
    assert pieces(['{"guessed_questions": [', "BREAK"]) == [DECLINE]


def test_a_break_in_the_answer_is_an_error() -> None:
    """A part has left, so the host has to know."""
    with pytest.raises(ModelError) as caught:
        pieces([reply("In ten days.")[:-6], "BREAK"])

    assert "BREAK" not in str(caught.value)


def test_unverified_highlights_ask_nobody() -> None:
    """Without a verified highlight the model is not asked at all."""
    asked = Asked(GUESS, (Passage("p", "Another text altogether, of many words."),))

    assert pieces(["BREAK"], asked) == [DECLINE]


def test_a_refusal_drags_no_text_along() -> None:
    """Sensitive passages are refused, and the error leaves without the frames below."""
    asked = Asked(GUESS, ASKED.passages, Label.SENSITIVE)

    with pytest.raises(PromptSanitizationError) as caught:
        pieces([], asked)

    assert "plan" not in [frame.name for frame in caught.traceback]
    assert caught.value.__context__ is None


async def test_the_async_stream_is_the_same() -> None:
    """Sync and async let the same pieces out."""
    chunks = list(reply("In ten days."))
    runner = Scripted()

    async def replying(prompt: Prompt) -> AsyncIterator[str]:
        for chunk in chunks:
            yield chunk

    async def conclude(steps: Steps[Answer]) -> Answer:
        return await arun(steps, runner)

    host = StreamHost(runner, nullcontext, replying, conclude)
    held = Settings(highlighter, HighlightSection(), has_model=True)
    found = [item async for item in astream(ASKED, held, host)]

    assert [item for item in found if isinstance(item, str)] == pieces(chunks)
    assert isinstance(found[0], Plan)
    assert found[-1] == Ending()
