"""What makes the passes quick changes nothing of what they rewrite."""

from __future__ import annotations

import base64
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.text.decoding import encodings, spelling
from sdrag.text.decoding.encodings import from_base64, is_text
from sdrag.text.decoding.mapped import MappedText
from sdrag.text.decoding.passes import Pass, rewrite
from sdrag.text.folding import fold
from sdrag.text.readings import _MIXED
from tests.support.spellings import (
    ADDRESSES_ONLY,
    DISGUISES,
    ENCODINGS,
    NAMES_ONLY,
    PLACES,
)

PASSES = (*encodings._ENCODINGS, *spelling._SPELLINGS, *spelling._HUMPS)
SPELT = [
    *(spell("Delia Meyers") for spell in (ENCODINGS | DISGUISES | NAMES_ONLY).values()),
    *(spell("d.meyers@corp.com") for spell in (ENCODINGS | ADDRESSES_ONLY).values()),
]
PLACED = [place.format(said) for place in PLACES.values() for said in SPELT]
PIECES = """
    a B 1 7 x 0 12 99 31 01101 2F fa 0x \\ \\u \\x4d = =3D & % # - -- xn-- . , ; : / //
    ( ) [ ] { } < > <b> <br <!-- * ** __ ~~ ` " ' + | @ at AT dot Dot \u00e4t punkt http
    hxxps https com example one Two SEVEN oh \u017fix k\u0131lo \u212ailo lima MIKE Papa
    Ab \u0410 \u00e9 \u00b2 \u0663 \u4e2d \U0001f170 \U000e0041 \u00ad \u200b \ud800
    """
TEXTS = st.one_of(
    st.lists(
        st.one_of(
            st.sampled_from(PIECES.split()),
            st.sampled_from([" ", "  ", "\n", "\r\n", "\t", "_", "\u00a0"]),
            st.sampled_from(SPELT),
            st.text(st.sampled_from("ABIaez0279+/-_="), min_size=6, max_size=12),
            st.text(st.characters(codec="utf-8"), max_size=2),
        ),
        max_size=24,
    ).map("".join),
    st.text(max_size=60),
)


def plainly(one: Pass) -> Pass:
    """Return a pass whose pattern is tried everywhere."""
    read = one.read if one.pattern is not encodings._BASE64 else whole_or_parts
    return Pass(one.pattern, read)


def whole_or_parts(match: re.Match[str]) -> str | list[tuple[str, int, int]] | None:
    """Decode every run of base64, whatever it begins with."""
    run, offset, done = match.group(), match.start(), 0
    if is_text(from_base64(run)):
        return from_base64(run)
    pieces = []
    for part in re.finditer("[A-Za-z0-9]{8,}={0,2}", run):
        said = from_base64(part.group())
        if is_text(said):
            start, end = part.span()
            pieces.append((run[done:start], offset + done, offset + start))
            pieces.append((said, offset + start, offset + end))
            done = end
    return [*pieces, (run[done:], offset + done, match.end())] if pieces else None


def rewritten(text: str, one: Pass) -> list[object]:
    result = rewrite(MappedText.of(text), (one,))
    return [result.text, result.starts, result.origins, result.lengths]


@given(TEXTS)
def test_a_pass_rewrites_what_its_pattern_finds_anywhere(text: str) -> None:
    for one in PASSES:
        assert rewritten(text, one) == rewritten(text, plainly(one))


@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.pattern.pattern[:20])
def test_so_it_does_with_every_spelling_at_every_place(one: Pass) -> None:
    for text in (*PLACED, " ".join(PLACED)):
        assert rewritten(text, one) == rewritten(text, plainly(one))


@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.pattern.pattern[:20])
def test_every_pass_has_a_text_that_it_rewrites(one: Pass) -> None:
    texts = "a[:]b", "xn--mller-kva", "hxxp://a", "ann dot lee@a", "one two oh five"
    assert any(rewritten(text, one)[0] != text for text in (*PLACED, *texts))


@given(st.text(min_size=3), st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]))
def test_no_text_in_base64_is_passed_over(text: str, encoding: str) -> None:
    raw = text.encode(encoding, errors="replace")
    for run in (base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
        said = from_base64(run.decode())
        if is_text(said) and len(run) >= 8:
            assert encodings._text_of_base64(run.decode()) == said


def test_no_first_character_of_a_text_in_base64_is_passed_over() -> None:
    for code in range(0x110000):
        if unicodedata.category(chr(code)) not in {"Cs", "Cc", "Cn", "Co"}:
            for said in (f"{chr(code)}bcdefg", f"a{chr(code)}cdefg"):
                run = base64.b64encode(said.encode()).decode()
                assert encodings._MAY_BE_TEXT.match(run)


@given(TEXTS)
def test_digits_among_letters_are_seen_from_either_side(text: str) -> None:
    plain = re.compile(r"[a-z](?=[@$!+0-9])|[@$!0-9](?=[a-z])")
    assert bool(_MIXED.search(text)) == bool(plain.search(text))


@given(TEXTS)
def test_a_text_folds_to_its_parts_folded(text: str) -> None:
    """A text without anything to fold but case is folded at once, others by piece."""
    whole, joined = fold(text), fold(f"{text}\u200b")
    assert whole.text == joined.text
    for index in range(len(whole.text)):
        assert whole.span(index, index + 1) == joined.span(index, index + 1)


def test_letters_that_are_alike_in_any_case_are_known() -> None:
    names = "".join({*"".join(spelling._DIGITS), *"".join(spelling._SPELLING)})
    any_case = re.compile(f"[{names}]", re.IGNORECASE)
    for code in range(0x110000):
        letter = chr(code)
        if any_case.match(letter):
            assert spelling._lowered(letter) in names
        assert len(spelling._lowered(letter)) == 1
        assert not letter.isdecimal() or letter.isascii() or code >= 0x660
