"""Detectors over models: Presidio, GLiNER, a language model, and their union."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass

import pytest

from sdrag.detectors.gliner import GlinerDetector
from sdrag.detectors.llm import LlmDetector, detection_prompt
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.presidio import PresidioDetector
from sdrag.detectors.text_windows import windows
from sdrag.detectors.union import UnionDetector
from sdrag.effects.prompts import Label, sensitive
from sdrag.effects.steps import Failure, Reply, run
from sdrag.errors import LocalLimitError, ModelReplyError, UsageError
from sdrag.testing import Scripted

TEXT = "Meyers rang 0770 555 0143. Later Meyers slept."


@dataclass
class _Result:
    start: int
    end: int
    entity_type: str
    score: float


class _Analyzer:
    """Presidio's interface; its models cannot be had here."""

    def analyze(self, text, language, **options):
        place = text.find("Meyers")
        return [_Result(place, place + 6, "PERSON", 0.85)] if place >= 0 else []


class _Gliner:
    """GLiNER's interface; its models cannot be had here."""

    def predict_entities(self, text, labels, **options):
        place = text.find("Meyers")
        found = {"start": place, "end": place + 6, "label": "person", "score": 0.9}
        return [found] if place >= 0 else []


def _spans(outcome):
    assert isinstance(outcome, Reply)
    return [(m.span.start, m.span.end, m.type) for m in outcome.value]


def test_presidio_results_become_mentions() -> None:
    """Presidio's offsets, types and scores are kept."""
    (outcome,) = run(PresidioDetector(_Analyzer()).detect([TEXT]), Scripted())

    assert _spans(outcome) == [(0, 6, "PERSON")]


def test_gliner_reads_a_long_text_to_its_end() -> None:
    """A name behind the model's window is found, at its place in the whole text."""
    text = "Nothing here. " * 300 + "Then Meyers came."

    (outcome,) = run(GlinerDetector(_Gliner()).detect([text]), Scripted())

    place = text.index("Meyers")
    assert _spans(outcome) == [(place, place + 6, "PERSON")]


def test_a_model_quotes_and_code_finds_every_occurrence() -> None:
    """One quotation stands for all places where it stands."""
    reply = json.dumps({"mentions": [{"text": "meyers", "type": "person"}]})

    (outcome,) = run(LlmDetector().detect([TEXT]), Scripted(complete=lambda _: reply))

    assert _spans(outcome) == [(0, 6, "PERSON"), (33, 39, "PERSON")]


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot help with that.",
        '{"mentions": [{"text": "Oyelaran", "type": "PERSON"}]}',
        '{"mentions": "none"}',
        "{" * 5000,
    ],
)
def test_a_reply_in_doubt_is_a_failure(reply: str) -> None:
    """What cannot be read, or quotes what is not there, is no empty answer."""
    (outcome,) = run(LlmDetector().detect([TEXT]), Scripted(complete=lambda _: reply))

    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, ModelReplyError)
    assert "Oyelaran" not in str(outcome.error)


def test_the_prompt_is_labelled_sensitive() -> None:
    """The text stands in the prompt as unredacted, so the asker's words may not."""
    assert detection_prompt(sensitive(TEXT)).labels == Label.SENSITIVE


def test_a_union_finds_what_any_finds() -> None:
    """The name is Presidio's, the number the local detector's."""
    union = UnionDetector((PresidioDetector(_Analyzer()), LocalDetector()))

    (outcome,) = run(union.detect([TEXT]), Scripted())

    assert {(0, 6, "PERSON"), (12, 25, "PHONE_NUMBER")} <= set(_spans(outcome))


def test_a_union_fails_where_one_fails() -> None:
    """What the failed detector would have found is not known."""
    union = UnionDetector((LocalDetector(), LlmDetector()))

    (outcome,) = run(union.detect([TEXT]), Scripted(complete=lambda _: "?"))

    assert isinstance(outcome, Failure)


def test_a_union_of_nothing_is_an_error() -> None:
    """A union without detectors would find nothing and look like safety."""
    with pytest.raises(UsageError):
        UnionDetector(())


def test_windows_cover_every_word() -> None:
    """Cut windows hold all the text but the whitespace between sentences."""
    text = ("One sentence here. " * 50) + "x" * 3000 + " end."

    cut = list(windows(text, 400))

    assert all(len(window) <= 400 for window in cut)
    covered = {place for w in cut for place in range(w.start, w.end)}
    assert all(place in covered for place, c in enumerate(text) if not c.isspace())


def test_a_model_that_hangs_is_not_waited_for():
    """Its text and those after it are not read; what was read before is kept."""
    released = threading.Event()

    class Hanging:
        def predict_entities(self, text, labels, **options):
            return [] if text == "quick" else released.wait(60) and []

    detector = GlinerDetector(Hanging(), seconds=0.2)
    quick, slow, after = run(detector.detect(["quick", "slow", "after"]), Scripted())
    released.set()

    assert quick == Reply(())
    assert isinstance(slow.error, LocalLimitError)
    assert isinstance(after.error, LocalLimitError)
