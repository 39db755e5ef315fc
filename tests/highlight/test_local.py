"""What the local highlighter hears in a question, and what it takes for an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.prompts import Label, untrusted
from sdrag.effects.steps import run
from sdrag.highlight.exchange import Context
from sdrag.highlight.local import focus, local, overlap
from sdrag.testing import Scripted
from sdrag.vocabulary import Passage

FERRY = "The ferry leaves the harbour at nine. It is painted green and white all over."
SHIPS = (
    "The ferry to the island was built by Anna Berg in a yard of the old town. "
    "The ferry to the island carries 340 people and their bicycles. "
    "The ferry to the island was painted green after the war."
)


def extracts(question: str, *texts: str) -> list[str]:
    passages = tuple(Passage(f"p{index}", text) for index, text in enumerate(texts))
    steps = local(untrusted(question), Context(passages, Label.NONE))
    return list(run(steps, Scripted()).extracts)


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
def test_the_focus_is_the_asking_word_and_what_follows(
    question: str, expected: list[str]
) -> None:
    """It ends at an auxiliary or a mark; a question without the word has none."""
    tokens = question.split()

    assert [tokens[at] for at in focus(tokens)] == expected


def test_overlap_looks_past_endings_and_common_words() -> None:
    """A word in another form still counts; what stands everywhere tells nothing."""
    near, far = overlap(
        "Who was painting the boats?", ["He painted a boat.", "He ate."]
    )

    assert near > far == 0.0


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=5))
def test_overlap_is_a_share(question: str, sentences: list[str]) -> None:
    """Whatever the texts, from 0 to 1."""
    assert all(0.0 <= item <= 1.0 + 1e-9 for item in overlap(question, sentences))


class TestWithTheModel:
    @pytest.fixture(autouse=True)
    def _model(self) -> None:
        pytest.importorskip("tokenizers")

    @pytest.mark.parametrize(
        ("question", "word"),
        [
            ("Who built the ferry to the island?", "Anna"),
            ("How many people does the ferry to the island carry?", "340"),
            ("In which colour was the ferry to the island painted?", "green"),
        ],
    )
    def test_what_is_asked_for_decides(self, question: str, word: str) -> None:
        """Of sentences about the same thing, the one that answers is taken."""
        (found,) = extracts(question, SHIPS)

        assert word in found

    def test_neighbours_become_one_extract(self, monkeypatch) -> None:
        """Neighbouring sentences are one stretch of their passage."""
        monkeypatch.setattr("sdrag.highlight.local._PRICE", 0.0)

        assert extracts("When does the ferry leave?", FERRY) == [FERRY]

    def test_another_subject_is_declined(self) -> None:
        """Where nothing is like the question's words, nothing is proposed."""
        assert extracts("Which enzyme splits lactose?", FERRY) == []

    @pytest.mark.parametrize(
        "question", ["", " \n", "?", "\u200b", "\u200b\u200b", "\0"]
    )
    def test_a_question_of_no_words_is_harmless(self, question: str) -> None:
        """It proposes nothing or a sentence, and never breaks."""
        assert len(extracts(question, FERRY, "")) <= 1
