"""A folded text finds what looks alike, and points back at its own characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sdrag.text.folding import fold, fold_text, is_boundary
from sdrag.text.phrase_matcher import PhraseMatcher, needs_case

from ..support.tables import each_row

ALPHABET = st.sampled_from(
    list("aAbB zZ_-'.19\n\t")
    + list("ßİıéſﬁ…’“–\u200b\u00ad\u0301\u00a0\u3000¨山田はタ김สкА")
)
TEXTS = st.text(ALPHABET, max_size=40) | st.text(max_size=40)


@given(TEXTS)
def test_every_folded_position_maps_into_the_original(text):
    """Each folded character stands for characters of the original, in their order."""
    folded = fold(text)
    spans = [folded.span(index, index + 1) for index in range(len(folded.text))]

    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert spans == sorted(spans, key=lambda span: (span.start, span.end))
    assert "  " not in folded.text


@given(TEXTS)
def test_folding_what_a_folded_position_stands_for_gives_it_back(text):
    """The original behind a folded character folds to a text that holds it."""
    folded = fold(text)

    for index, character in enumerate(folded.text):
        assert character in fold(folded.span(index, index + 1).of(text)).text


@given(TEXTS)
def test_folding_twice_is_folding_once(text):
    """A needle can be folded again without harm."""
    once = fold_text(text)

    assert fold_text(once) == once


@given(TEXTS, TEXTS)
def test_find_agrees_with_a_naive_search(text, form):
    """`Folded.find` is the leftmost search without overlaps, at word boundaries."""
    folded, needle = fold(text), fold_text(form)
    expected, place = [], 0
    while needle and place + len(needle) <= len(folded.text):
        end = place + len(needle)
        if folded.text[place:end] == needle and all(
            is_boundary(folded.text, edge) for edge in (place, end)
        ):
            expected.append(folded.span(place, end))
            place = end
        else:
            place += 1

    assert list(folded.find(needle)) == expected


@given(TEXTS, st.lists(st.text(ALPHABET, max_size=6), max_size=6))
def test_needles_agree_with_brute_force(text, forms):
    """Many forms in one pass cover what searching each form everywhere covers."""
    folded = fold(text)
    forms = [form for form in forms if not needs_case(form)]
    covered = {
        index
        for _, start, end in PhraseMatcher(forms).matches(folded.text)
        for index in range(start, end)
    }
    expected = {
        index
        for needle in map(fold_text, forms)
        for start in folded.positions(needle)
        for index in range(start, start + len(needle))
    }

    assert expected <= covered
    assert PhraseMatcher(forms).occur(folded) is bool(expected)


@each_row(
    "text, form, found",
    [
        ("Mey\u200bers left", "Meyers", "Mey\u200bers"),
        ("Jonathan \u200b Meyers", "jonathan meyers", "Jonathan \u200b Meyers"),
        ("Jonathan\u00a0\n Meyers", "Jonathan Meyers", "Jonathan\u00a0\n Meyers"),
        ("in der STRASSE 5", "Straße", "STRASSE"),
        ("die Straße hier", "STRASSE", "Straße"),
        ("İstanbul", "istanbul", "İstanbul"),
        ("_Ann Lee_ said", "Ann Lee", "Ann Lee"),
        ("私はJohnです", "john", "John"),
        ("山田太郎は医師", "田太郎", "田太郎"),
        ("Müller", "Mu\u0308ller", "Müller"),
        ("O’Brien", "O'Brien", "O’Brien"),
        ("non\u2011exact", "non-exact", "non\u2011exact"),
        ("ＭＥＹＥＲＳ", "meyers", "ＭＥＹＥＲＳ"),
        ("Meyerson", "Meyers", None),
        ("preMeyers", "Meyers", None),
    ],
)
def test_spellings(text, form, found):
    """Case, width, accents, quotes and the invisible do not hide a name."""
    spans = [span.of(text) for span in PhraseMatcher([form]).find(fold(text))]

    assert spans == ([found] if found else [])


def test_many_forms_that_begin_alike_are_found_in_one_pass():
    """Forty thousand people called John cost one look-up a word, not forty thousand."""
    names = [f"John Smith{number:05}" for number in range(40_000)]
    matcher = PhraseMatcher(names)

    found = list(matcher.find(fold(", ".join(names))))

    assert len(found) == len(names)
