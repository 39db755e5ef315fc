"""The highlighters of the package: what they ask, and what they make of replies."""

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
from sdrag.highlight.local import focus, local
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted

TEXTS = ("One two three four five.", "Six seven eight.")
FERRY = "The ferry leaves at nine. It is green all over. It carries no cars at all."
MUSEUM = "The museum is old. It opens at ten in the morning."
SHIPS = (
    "The ferry to the island was built by Anna Berg in a yard of the old town. "
    "The ferry to the island carries 340 people and their bicycles. "
    "The ferry to the island was painted green after the war."
)


def propose(
    highlighter: Highlighter,
    *texts: str,
    question: str = "When?",
    replies: tuple[str, ...] = (),
) -> list[str]:
    """Return what a highlighter proposes when a model gives these replies."""
    left = list(replies)
    passages = tuple(Passage(f"p{index}", text) for index, text in enumerate(texts))
    steps = highlighter(untrusted(question), Context(passages, Label.NONE))
    return list(run(steps, Scripted(complete=lambda _: left.pop(0))))


BULLETS = 'Sure:\n- One two three\n* "Six seven"\n2. four five\nDone.'
FENCED = '```json\n{"answer": "Obey.", "text_extracts": ["One two"]}\n```'
STRETCH = {"start": "two", "end": "four"}
SPANS = [{"passage": number, **STRETCH} for number in (1, 2, 9, 0, -1)]


@pytest.mark.parametrize(
    ("highlighter", "replies", "expected"),
    [
        (baseline, [BULLETS], ["One two three", "Six seven", "four five"]),
        (structured, [FENCED], ["One two"]),
        (two_steps, ["Five.", '{"text_extracts": ["Six"]}'], ["Six"]),
        (by_span, [json.dumps({"spans": SPANS})], ["two three four"]),
    ],
)
def test_what_a_model_returns_is_read(highlighter, replies, expected):
    """Talk, answers that only ground extracts, and unknown places are dropped."""
    assert propose(highlighter, *TEXTS, replies=tuple(replies)) == expected


@pytest.mark.parametrize("highlighter", [structured, by_span])
def test_an_unreadable_reply_quotes_nothing(highlighter):
    """The error has a length, and none of the words."""
    with pytest.raises(ModelReplyError) as caught:
        propose(highlighter, *TEXTS, replies=("secret words, no JSON",))

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("the cat", "the mat", "the cat sat on the mat"),
        ("THE  CAT", "mat", "the cat sat on the mat"),
        ("the mat", "the cat", "the mat, and the cat"),
        ("the cat sat", "sat", "the cat sat"),
        ("the cat sat on", "cat sat on the", "the cat sat on the"),
        ("the dog", "the mat", None),
        ("the ca", "the mat", None),
        ("", "the mat", None),
    ],
)
def test_between(start, end, expected):
    """The end may begin within the start, and the tightest pair is taken."""
    text = "See the cat: the cat sat on the mat, and the cat slept on the mat there."

    assert between(text, start, end) == expected


class TestLocal:
    @pytest.mark.parametrize(
        ("question", "expected"),
        [
            ("who was it built by ?", ["who"]),
            ("who built it ?", ["who", "built", "it"]),
            ("in which old river did it sink ?", ["which", "old", "river"]),
            ("how many people are carried ?", ["how", "many", "people"]),
            ("what , then ?", ["what"]),
            ("wer hat es gebaut ?", []),
        ],
    )
    def test_the_focus_is_the_asking_word_and_what_follows(self, question, expected):
        """It ends at an auxiliary or a mark; without the word there is none."""
        tokens = question.split()

        assert [tokens[at] for at in focus(tokens)] == expected

    @pytest.mark.parametrize(
        ("question", "word"),
        [
            ("Who built the ferry to the island?", "Anna"),
            ("How many people does the ferry to the island carry?", "340"),
            ("In which colour was the ferry to the island painted?", "green"),
        ],
    )
    def test_what_is_asked_for_decides(self, question, word):
        """Of sentences about the same thing, the one that answers is taken."""
        pytest.importorskip("tokenizers")
        (extract,) = propose(local, SHIPS, question=question)

        assert word in extract

    def test_another_subject_is_declined(self):
        """Nothing is proposed that is unlike the question; no words are harmless."""
        pytest.importorskip("tokenizers")

        assert propose(local, FERRY, question="Which enzyme splits lactose?") == []
        for question in ("", " \n", "?", "\u200b\u200b", "\0"):
            assert len(propose(local, FERRY, "", question=question)) <= 1
