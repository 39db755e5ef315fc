"""The tagger: what a trained network adds to the rules, and what it may doubt."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open

import sdrag
from sdrag.detectors import tagger
from sdrag.detectors.local import LocalDetector, mentions
from sdrag.detectors.tagger import Tag, TaggerDetector
from sdrag.disclosure.local import scorer
from sdrag.effects.steps import Failure, Reply, run, try_each
from sdrag.errors import InternalError
from sdrag.text.sentences import words
from sdrag.vocabulary import Mention

from ..support.scripted import Scripted

CASE = (
    "The applicant was born in 1962 and lives in Gdynia. He ran a mushroom farm with"
    " his two brothers and lost it in a fire. On 3 May 1999 the Gdynia Regional Court"
    " ordered that he be examined by two psychiatrists."
)


def _found(text: str, detector=None) -> tuple[Mention, ...]:
    (outcome,) = run((detector or TaggerDetector()).detect([text]), Scripted())
    assert isinstance(outcome, Reply)
    return outcome.value


def _masked(found: tuple[Mention, ...], text: str) -> set[str]:
    return {
        span.of(text)
        for span in words(text)
        if any(m.confidence >= 0.5 and m.span.overlaps(span) for m in found)
    }


def _seeing(monkeypatch, chance: float) -> None:
    """Let the network say the same of every word."""

    def same(text: str) -> tuple[Tag, ...]:
        return tuple(Tag(span, chance) for span in words(text))

    monkeypatch.setattr(tagger, "tags", same)


def test_what_no_form_gives_away_is_found() -> None:
    """A farm has no capital, no digit and no unit, and there are few of the kind."""
    assert "mushroom" not in _masked(mentions(CASE), CASE)
    assert "mushroom" in _masked(_found(CASE), CASE)


def test_everything_the_rules_found_is_still_there() -> None:
    """The network adds and doubts; it removes nothing."""
    kept = {(m.span, m.type) for m in _found(CASE)}

    assert {(m.span, m.type) for m in mentions(CASE)} <= kept


COUNTED = [
    '{"item": "lamp", "qty": 4, "score": 17}',
    "item,qty,score\nlamp,4,17\ndesk,2,9",
    "| item | score |\n|---|---|\n| lamp | 17 |\n| desk | 9 |",
    "<row><item>lamp</item><score>17</score></row>",
    "score=17 item=lamp retries=3",
    "SCORE: 12\nLEVEL: 4",
    "retry: 3\ntimeout: 30\nworkers: 4",
    '{"temperature": 21, "humidity": 40, "sensor": "north wall"}',
    '{"rank": 7, "points": 62, "team": "Blue"}',
    "stock: 45\nshelf: 3\nitem: 9981",
    "Item 4 of 12 is ready.",
    "The score was 3 to 1.",
    "Score: 45",
]


@pytest.mark.parametrize("text", COUNTED)
def test_counts_and_labels_are_nobodys(text) -> None:
    """The network was taught sentences: it reads no label and no figure alone."""
    assert sdrag.explain(text, {"constraints": ["Remove personal data"]}).spans == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Write to Jonathan Meyers.", "Meyers"),
        ("Write to ann@example.org.", "ann"),
        ("It was on 3 May 1999.", "1999"),
        ("Her number is 0770 555 0143.", "0143"),
        ("They met in Gdynia.", "Gdynia"),
    ],
)
def test_what_names_somebody_is_never_doubted(monkeypatch, text, word) -> None:
    """However sure the network is that a name, a date or a code is harmless."""
    _seeing(monkeypatch, 0.0)

    assert word in _masked(_found(text), text)


def test_what_many_share_is_doubted(monkeypatch) -> None:
    """A nationality that the network takes for harmless is no longer masked."""
    text = "The Polish authorities replied."
    assert "Polish" in _masked(mentions(text), text)

    _seeing(monkeypatch, 0.0)

    assert "Polish" not in _masked(_found(text), text)


def test_what_the_rules_know_keeps_their_type(monkeypatch) -> None:
    """The network adds no second mention where a sure one stands."""
    _seeing(monkeypatch, 1.0)
    text = "Jonathan Meyers slept."

    found = _found(text)

    assert [m.type for m in found if m.span.of(text).startswith("Jonathan")] == [
        "PERSON"
    ]
    assert "slept" in _masked(found, text)


def test_words_in_a_row_are_one_mention(monkeypatch) -> None:
    """A sign between them parts two; signs and the commonest words are none alone."""
    _seeing(monkeypatch, 0.9)
    text = "red lamp, the ... parish cow"

    assert [m.span.of(text) for m in _found(text)] == ["red lamp", "parish cow"]


@pytest.mark.parametrize(("chance", "masked"), [(0.05, False), (0.95, True)])
def test_only_what_is_likely_is_a_mention(monkeypatch, chance, masked) -> None:
    """A mention is as sure as the network is."""
    _seeing(monkeypatch, chance)

    assert bool(_masked(_found("a red lamp"), "a red lamp")) is masked


def test_a_long_text_is_read_to_its_end() -> None:
    """What stands behind many windows is found as what stands first is."""
    filler = "Nothing was said about it on that day by anybody there. " * 200

    assert "mushroom" in _masked(_found(filler + CASE), filler + CASE)


class _Broken:
    """A detector that cannot read."""

    def detect(self, texts):
        def fail(_text):
            raise InternalError("It broke.")

        yield from ()
        return try_each(fail, texts)


def test_a_text_the_rules_could_not_read_is_a_failure() -> None:
    """What they would have found is not known."""
    (outcome,) = run(TaggerDetector(_Broken()).detect(["Ann slept."]), Scripted())

    assert isinstance(outcome, Failure)


def test_a_text_the_network_could_not_read_is_a_failure(monkeypatch) -> None:
    """A number that is none would compare as if it were harmless."""
    none = SimpleNamespace(run=lambda ids, **_: [np.full((*ids.shape, 9), np.nan)])
    monkeypatch.setattr(tagger, "load_network", lambda *_: none)

    (outcome,) = run(TaggerDetector().detect([CASE]), Scripted())

    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, InternalError)


def test_without_the_weights_it_is_an_error(monkeypatch, tmp_path) -> None:
    """A file of the package is missing: no other engine takes its place in silence."""
    missing = tmp_path / "none.safetensors"
    monkeypatch.setattr(tagger, "_WEIGHTS", missing)

    with pytest.raises(InternalError, match="The tagger has no weights"):
        tagger.available()


@pytest.mark.parametrize("weights", [tagger._WEIGHTS, scorer._WEIGHTS["scorer"]])
def test_weights_say_what_they_are(weights) -> None:
    """Name, version, source of the data and licence are in the file."""
    with safe_open(weights, framework="np") as file:
        metadata = file.metadata()

    assert {"name", "version", "source_data", "licence"} <= metadata.keys()


BLOCKS = ((0x300, 48), (0x900, 64), (0x1100, 32), (0x200B, 5), (0xD800, 4), (0xDC00, 4))
ODD = "".join(chr(first + n) for first, count in BLOCKS for n in range(count))


@given(st.text(st.sampled_from(ODD + "abc .,0A"), max_size=40))
def test_whatever_the_script_mentions_lie_in_the_text(text: str) -> None:
    """Sorted by span, within the text, and with the rules' mentions among them."""
    found = _found(text)

    assert all(m.span.end <= len(text) for m in found)
    assert all(a.span <= b.span for a, b in pairwise(found))
    assert {(m.span, m.type) for m in _found(text, LocalDetector())} <= {
        (m.span, m.type) for m in found
    }
