"""What an encoded text says, and where each of its words stands in the text itself."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.text.decoding import decode
from sdrag.text.folding import fold, fold_text
from sdrag.text.readings import readings
from tests.support.spellings import (
    ADDRESSES_ONLY,
    DISGUISES,
    ENCODINGS,
    NAMES_ONLY,
    Spelling,
)

from ..support.tables import each_row

NAME = "Delia Meyers"
ADDRESS = "d.meyers@corp.com"
SPELT = [
    *((NAME, spell) for spell in (ENCODINGS | DISGUISES | NAMES_ONLY).values()),
    *((ADDRESS, spell) for spell in (ENCODINGS | ADDRESSES_ONLY).values()),
]


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold_text(text))


@each_row("value, spell", SPELT)
def test_some_reading_says_the_value_and_where_it_stands(
    value: str, spell: Spelling
) -> None:
    text = f"It was {spell(value)} again."
    wanted = _letters(value.rsplit(maxsplit=1)[-1])
    for reading in readings(text):
        run = "".join(re.findall(r"[^\W_]+", reading.text))
        if wanted in run:
            break
    else:
        pytest.fail("no reading says it")
    places = [at for at, item in enumerate(reading.text) if item.isalnum()]
    start = run.index(wanted)
    span = reading.span(places[start], places[start + len(wanted) - 1] + 1)
    assert "It was" not in span.of(text)
    assert "again" not in span.of(text)


@each_row(
    "text",
    [
        "An ordinary sentence, with 3 numbers: 12, 45 and 2019-04-12.",
        "deadline internationalization acknowledgements",
        "550e8400-e29b-41d4-a716-446655440000",
        "https://www.example.com/a/b?x=1&y=2#part-3",
        "72 85 90 110 104",
        ".- -. -.",
        "xn--mller-kva.de",
        "call five five five oh one two three",
        "look at example.com",
        "the U.S. v. X, J. R. R. Tolkien, e.g. this",
        "\u041c\u044b \u0432\u0438\u0434\u0435\u043b\u0438",
        "100 % of it; 5 & 6; a = b",
        "",
    ],
)
def test_what_is_not_encoded_is_left_as_it_is(text: str) -> None:
    assert decode(text).before is None


def test_a_part_of_an_encoded_stretch_stands_for_all_of_it() -> None:
    text = "see VGhlIHdpdG5lc3Mgd2FzIEFubiBNZXllcnMsIG9mIExlZWRzLg== for it"
    decoded = decode(text)
    start = decoded.text.index("Meyers")
    assert decoded.span(start, start + 6).of(text) == text[4:-7]


def test_a_letter_of_what_is_spelt_apart_stands_for_itself() -> None:
    text = "it was M e y e r s again"
    decoded = decode(text)
    start = decoded.text.index("Meyers")
    assert decoded.span(start, start + 6).of(text) == "M e y e r s"


TEXTS = st.text(
    st.one_of(
        st.sampled_from("aeB1 .-&#;%\\ux0=@[]()<>/+_\n\u0430\u00ad\u200b"),
        st.characters(codec="utf-8"),
    ),
    max_size=200,
)


@given(TEXTS)
def test_every_reading_points_into_the_text(text: str) -> None:
    for reading in readings(text):
        for index in range(len(reading.text)):
            span = reading.span(index, index + 1)
            assert 0 <= span.start <= span.end <= len(text)
        if reading.text:
            whole = reading.span(0, len(reading.text))
            assert 0 <= whole.start <= whole.end <= len(text)


@given(TEXTS)
def test_decoding_never_makes_a_text_much_longer(text: str) -> None:
    assert len(decode(text).text) <= 2 * len(text)


@given(TEXTS)
def test_a_text_folds_to_its_parts_folded(text: str) -> None:
    """A text without anything to fold but case is folded at once, others by piece."""
    whole, joined = fold(text), fold(f"{text}\u200b")
    assert whole.text == joined.text
    for index in range(len(whole.text)):
        assert whole.span(index, index + 1) == joined.span(index, index + 1)
