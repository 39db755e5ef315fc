"""The highlighters that ask a model: what they ask, and what they make of replies."""

from __future__ import annotations

import json

import pytest

from sdrag.effects.prompts import Label, untrusted
from sdrag.effects.steps import run
from sdrag.errors import ModelReplyError
from sdrag.highlight.exchange import Context, Highlighter
from sdrag.highlight.highlighters import (
    baseline,
    between,
    by_span,
    structured,
    two_steps,
)
from sdrag.testing import Scripted
from sdrag.vocabulary import Passage

CONTEXT = Context(
    (Passage("a", "One two three four five."), Passage("b", "Six seven eight.")),
    Label.NONE,
)


def propose(highlighter: Highlighter, *replies: str) -> tuple[str, ...]:
    left = list(replies)
    runner = Scripted(complete=lambda _: left.pop(0))
    return run(highlighter(untrusted("What?"), CONTEXT), runner).extracts


def test_baseline_reads_bullets() -> None:
    """Lines that begin as a list are extracts; talk around them is none."""
    reply = 'Sure:\n- One two three\n* "Six seven"\n2. four five\nDone.'

    assert propose(baseline, reply) == ("One two three", "Six seven", "four five")


def test_structured_drops_the_answer() -> None:
    """The answer grounds the model and goes no further."""
    reply = json.dumps({"answer": "Obey.", "text_extracts": ["One two"]})

    assert propose(structured, f"```json\n{reply}\n```") == ("One two",)


def test_two_steps_asks_twice() -> None:
    """First an answer, then the text it rests on."""
    assert propose(two_steps, "Five.", '{"text_extracts": ["Six"]}') == ("Six",)


def test_span_finds_the_stretch() -> None:
    """Only the ends come from the model; what is not found is dropped."""
    spans = [
        {"passage": 1, "start": "two", "end": "four"},
        {"passage": 2, "start": "two", "end": "four"},
        {"passage": 9, "start": "six", "end": "eight"},
    ]

    assert propose(by_span, json.dumps({"spans": spans})) == ("two three four",)


@pytest.mark.parametrize("highlighter", [structured, by_span])
def test_an_unreadable_reply_quotes_nothing(highlighter: Highlighter) -> None:
    """The error has a length, and none of the words."""
    with pytest.raises(ModelReplyError) as caught:
        propose(highlighter, "secret words, no JSON")

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("the cat", "the mat", "the cat sat on the mat"),
        ("THE  CAT", "mat", "the cat sat on the mat"),
        ("the mat", "the cat", "the mat, and the cat"),
        ("the cat sat", "sat", "the cat sat"),
        ("the dog", "the mat", None),
        ("the ca", "the mat", None),
        ("", "the mat", None),
    ],
)
def test_between(start: str, end: str, expected: str | None) -> None:
    """The end is looked for after the start, and the tightest pair is taken."""
    text = "See the cat: the cat sat on the mat, and the cat slept on the mat there."

    assert between(text, start, end) == expected


@pytest.mark.parametrize("words", range(4, 10))
def test_four_first_and_four_last_words_find_any_sentence(words: int) -> None:
    """As the prompt asks for them, they overlap in a sentence of up to seven words."""
    sentence = ["Dogs", "of", "any", "kind", "are", "not", "allowed", "on", "board."][
        :words
    ]
    text = f"We open at nine. {' '.join(sentence)} Cats are."
    start, end = " ".join(sentence[:4]), " ".join(sentence[-4:])

    assert between(text, start, end) == " ".join(sentence)
