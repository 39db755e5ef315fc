"""The local detector finds what identifies, with exact offsets and no model."""

from __future__ import annotations

import timeit
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.detectors.local import LocalDetector, mentions
from sdrag.effects.steps import Reply, run

from ..support.scripted import Scripted
from .test_marked import TABLES, read

TEXTS = [read(case)[0] for table in TABLES["whole"] for case in table["cases"]]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Jonathan Meyers came in. Later that day Meyers left.", "Meyers"),
        ("We thank Farida Qureshi. FARIDA QURESHI WAS HEARD.", "FARIDA"),
        ("A letter by Kwabena Frimpong, signed K.F. as usual.", "K.F."),
        ("Staff number 40962 came first, then also 40105 was seen.", "40105"),
        ("The Employment Appeal Tribunal sat. Later EAT rose.", "EAT"),
    ],
)
def test_a_form_seen_once_is_found_everywhere(text: str, form: str) -> None:
    """Surnames, capitals, initials and look-alike codes are found in a second pass."""
    place = text.rindex(form)

    assert any(m.span.start == place and m.confidence >= 0.5 for m in mentions(text))


PLAIN = """
The meeting went well and everybody was pleased with the result.
Nothing had been decided. Perhaps they would try again.
I'm sure they've seen it. They're late, aren't they?
all of this is written without a single capital, and names nobody.
The Court of Cassation referred to Articles 125 and 168.
"""


def test_ordinary_words_are_no_names() -> None:
    """Words that stand first, contractions and offices identify nobody."""
    for text in PLAIN.strip().splitlines():
        assert [m for m in mentions(text) if m.confidence >= 0.5] == []

    offices = mentions("Thank you, Mr Chairman, and Madam President. Dear Mr Speaker,")
    assert not [m for m in offices if m.type == "PERSON" and m.confidence >= 0.5]
    assert [m.confidence for m in mentions("I saw Mr Judge.") if m.type == "PERSON"]


def test_sees_through_invisible_characters() -> None:
    """A name split by a zero-width space is cut out whole, in original offsets."""
    text = "The witness, Jonathan Mey\u200bers, and Andre\u0301 Dubois."

    found = {mention.span.of(text) for mention in mentions(text)}

    assert "Jonathan Mey\u200bers" in found
    assert "Andre\u0301 Dubois" in found


@given(st.text(max_size=300))
def test_any_text_has_valid_sorted_spans(text: str) -> None:
    """Whatever the text, spans lie within it and are sorted."""
    found = mentions(text)

    assert all(m.span.end <= len(text) for m in found)
    assert [m.span.start for m in found] == sorted(m.span.start for m in found)


@given(st.sampled_from(TEXTS), st.integers(0, 40))
def test_a_prefix_shifts_every_span(text: str, count: int) -> None:
    """Blank lines before a text move its mentions and change nothing else."""
    shift = "\n" * count

    moved = [(m.span.start - count, m.type) for m in mentions(shift + text)]

    assert moved == [(m.span.start, m.type) for m in mentions(text)]


UNITS = [
    *("A", "a ", "1", "1 ", "1-", "A. ", "@", "Aa ", "12 March ", "\u0301", "x@y."),
    *("\u00e4", "Xa of ", "Court of ", "Smith, ", "two years and ", "Xq's ", "AA 11"),
    *('("Xq") ', '"A b ', "the corner of ", "password is ", "a.a", "#/.:@+-"),
    *("FPO AA ", "1 x ", "> ", "left arm ", "Xs' ", "://", "eyJ", "-----BEGIN "),
    *("AB 12 ", "ab:", "::", "1:", "a-1-", "ff ", "0x", "1A", "May ", "x1 ", "1a2b"),
    *("GB82 ", "12/", "T1", "2024-", "iban ", "ssn 1 ", "plate A", "tel 1/", "800 A"),
    *("AAAAAA 1", "1.2.3.", "id: 1 ", "3 mai ", "1 A 1 A ", "is 1", "a@\n", "$1,000"),
]


@pytest.mark.slow  # a clock, which a busy machine moves
@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear_in_the_text(unit: str) -> None:
    """No repetition of anything makes the scan slower than linear."""
    mentions(unit * 10)
    short, long = (_seconds(unit * (size // len(unit))) for size in (5_000, 60_000))

    assert long < 12 * 6 * max(short, 0.005)  # of a square it would be 12 * 12


def test_is_a_detector() -> None:
    """`detect` answers one outcome per text."""
    texts = ["Mr Jonathan Meyers is a baker.", ""]

    outcomes = run(LocalDetector().detect(texts), Scripted())

    assert outcomes == [Reply(mentions(texts[0])), Reply(())]


def _seconds(text: str) -> float:
    """Return the best of three: what else the process does comes on top."""
    return min(timeit.repeat(lambda: mentions(text), thread_time, number=1, repeat=3))


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("The NHS number 943 476 5919 is his.", {"CODE", "PHONE_NUMBER"}),
        ("account number 04417550143", {"CODE", "PHONE_NUMBER"}),
        ("the sort code 12-34-56 of the bank", {"CODE", "DATE"}),
    ],
)
def test_no_surer_type_takes_another_away(text, types) -> None:
    """What is a code by its cue may still be the number that another rule asks for."""
    assert types <= {mention.type for mention in mentions(text)}
