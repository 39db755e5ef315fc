"""What is read ahead in one pass changes no score, and a document fails alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.disclosure.local.scorer import available
from sdrag.engine.effect_runner import PortRunner, Ports
from sdrag.engine.steps import Failure, Reply, run
from sdrag.vocabulary import Constraint, Passage

if not available():
    pytest.skip("needs the extra `local`", allow_module_level=True)

from sdrag.disclosure.local.scorer import ReadAhead, read_ahead, score
from sdrag.disclosure.local.scorer_locator import Thresholds, scored

CONSTRAINTS = ["Hide telephone numbers", "Hide what ails the patient"]
LONG = "The driver of the blue van has an ulcer, as the nurse wrote down. " * 90
DOCUMENTS = [
    ["Ann Lee called 0171 5325585. Ask again.", "Ann Lee called 0171 5325585."],
    ["Bo had the flu. Ask again.", "Bo had the flu.", "Ask again."],
    ["Ask again."],
    [""],
    [LONG, "A short one."],
    ["Ask again.", "Cy's leg is broken."],
    *([f"Case {number}: the fee is {number * 37}."] for number in range(60)),
]


@pytest.mark.parametrize("documents", [DOCUMENTS, DOCUMENTS[::-1]])
def test_what_is_read_ahead_scores_as_it_does_alone(documents: Any) -> None:
    """To the last bit, so a stored finding never depends on what was bound with it."""
    ahead = ReadAhead(documents)
    for texts in documents:
        alone = score(texts, CONSTRAINTS)
        for own, other in zip(score(texts, CONSTRAINTS, ahead), alone, strict=True):
            assert own.words == other.words
            assert np.array_equal(own.chances, other.chances)


def test_documents_may_come_in_another_order() -> None:
    ahead = ReadAhead(DOCUMENTS)
    for texts in (*DOCUMENTS[3:9], *DOCUMENTS[:3], ["Not foreseen."]):
        (own, *_), (alone, *_) = (
            score(texts, CONSTRAINTS, ahead),
            score(texts, CONSTRAINTS),
        )
        assert np.array_equal(own.chances, alone.chances)


def test_short_documents_are_read_in_few_passes(monkeypatch: Any) -> None:
    passes = _passes(monkeypatch)
    ahead = ReadAhead(DOCUMENTS[6:])
    for texts in DOCUMENTS[6:]:
        score(texts, CONSTRAINTS, ahead)

    assert len(passes) < 4


def test_what_documents_say_alike_is_read_once_a_pass(monkeypatch: Any) -> None:
    passes = _passes(monkeypatch)
    ahead = ReadAhead([["Ask again."], ["Ask again."], ["Ask again."]])
    for _ in range(3):
        score(["Ask again."], CONSTRAINTS, ahead)

    assert [len(windows) for windows in passes] == [1]


def test_a_document_that_cannot_be_read_fails_alone(monkeypatch: Any) -> None:
    tokenized = read_ahead.tokenized

    def failing(text: str, tokenizer: Any) -> Any:
        if "Bo" in text:
            raise ValueError("cannot be read")
        return tokenized(text, tokenizer)

    monkeypatch.setattr(read_ahead, "tokenized", failing)
    passages = [Passage(name, f"{name} called 0171 5325585.") for name in ("A", "Bo")]
    documents = [JoinedText.of([one]) for one in (*passages, *passages[:1])]
    asked = [parse(Constraint("c", CONSTRAINTS[0]))]
    steps = scored(documents, asked, Thresholds.at(1.0))

    first, second, third = run(steps, PortRunner(Ports()))

    assert isinstance(second, Failure)
    assert isinstance(first, Reply)
    assert first.value
    assert first == third


def _passes(monkeypatch: Any) -> list[Any]:
    seen: list[Any] = []
    read = read_ahead.read

    def seeing(network: Any, tokenizer: Any, windows: Any) -> Any:
        seen.append(windows)
        return read(network, tokenizer, windows)

    monkeypatch.setattr(read_ahead, "read", seeing)
    return seen
