"""The algebra of stretches of text."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sdrag.errors import UsageError
from sdrag.text.folding import fold, is_boundary
from sdrag.text.sentences import sentences, words
from sdrag.text.spans import (
    SpanUnion,
    locate,
    merge,
    shift,
    splice,
    subtract,
    widen,
    widen_each,
)
from sdrag.vocabulary import Span

from ..support.tables import each_row

TEXTS = st.text(st.sampled_from("ab AB.\u200b\u0301ß山_-\n"), min_size=1, max_size=50)


@st.composite
def texts_with_spans(draw):
    text = draw(TEXTS)
    places = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(places, places), max_size=8))
    return text, [Span(min(p), max(p)) for p in pairs if p[0] != p[1]]


@given(texts_with_spans())
def test_merge_covers_the_same_characters_apart_and_in_order(case):
    """Merging changes no character's being covered; what comes out never touches."""
    _, spans = case
    merged = merge(spans)

    assert {i for s in spans for i in range(s.start, s.end)} == {
        i for s in merged for i in range(s.start, s.end)
    }
    assert all(a.end < b.start for a, b in itertools.pairwise(merged))
    assert merge(merged) == merged


@given(texts_with_spans())
@example(("a b-c", [Span(4, 5), Span(2, 3), Span(0, 1)]))
def test_merge_over_a_text_joins_across_whitespace_only(case):
    """What is joined besides has nothing but whitespace between."""
    text, spans = case
    plain, joined = merge(spans), merge(spans, text)
    added = {i for s in joined for i in range(s.start, s.end)} - {
        i for s in plain for i in range(s.start, s.end)
    }

    assert all(text[i].isspace() for i in added)
    assert all(text[a.end : b.start].strip() for a, b in itertools.pairwise(joined))


@given(texts_with_spans())
def test_splice_replaces_exactly_the_spans(case):
    """What is outside stays, in order; a span replaced by itself changes nothing."""
    text, spans = case
    merged = merge(spans)
    outside = "".join(
        c for i, c in enumerate(text) if not any(s.start <= i < s.end for s in merged)
    )

    assert splice(text, merged, lambda _: "") == outside
    assert splice(text, reversed(merged), lambda span: span.of(text)) == text


@given(texts_with_spans())
def test_what_is_subtracted_is_left_out_and_no_more(case):
    """What is left is apart and in order; a span that is moved keeps its text."""
    text, spans = case
    if spans:
        whole, others = spans[0], merge(spans[1:])
        taken = {i for s in others for i in range(s.start, s.end)}
        left = [*subtract(whole, others)]
        assert [i for s in left for i in range(s.start, s.end)] == [
            i for i in range(whole.start, whole.end) if i not in taken
        ]
        assert all(a.end < b.start for a, b in itertools.pairwise(left))
        assert shift(whole, 3).of("..." + text) == whole.of(text)


def test_splice_refuses_spans_that_overlap():
    """Replacing one would move the other."""
    with pytest.raises(UsageError, match="overlap"):
        splice("abcd", [Span(0, 2), Span(1, 3)], lambda _: "")


@given(texts_with_spans())
def test_a_union_answers_as_its_spans_do(case):
    """It overlaps what one of them does, and contains what they cover together."""
    text, spans = case
    union = SpanUnion(spans)
    covered_characters = {i for s in spans for i in range(s.start, s.end)}

    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            own = set(range(start, end))
            assert union.overlaps(Span(start, end)) == bool(own & covered_characters)
            assert union.contains(Span(start, end)) == (own <= covered_characters)


@given(texts_with_spans())
def test_many_spans_are_widened_as_each_is_alone(case):
    """In their order."""
    text, spans = case

    assert list(widen_each(text, spans)) == [widen(text, span) for span in spans]


@given(texts_with_spans())
def test_widen_grows_to_whole_words_and_no_further(case):
    """The result holds the span, cuts no word, and is a fixed point."""
    text, spans = case
    for span in spans:
        whole = widen(text, span)

        assert whole.contains(span)
        assert is_boundary(text, whole.start)
        assert is_boundary(text, whole.end)
        assert widen(text, whole) == whole


@each_row(
    "text, quotation, found",
    [
        ("Ruth Calder met Calder.", "calder", ["Calder", "Calder"]),
        ("Ruth Calder was seen", "Ruth Caldor", ["Ruth Calder"]),
        ("by Ann Mey\u200bersson, 3 May", "Ann Meyerssen", ["Ann Mey\u200bersson"]),
        ("Ruth Calder was seen", "somebody else entirely", []),
        ("Ruth Calder was seen at noon", "somebody else", []),
        ("Ruth Caldor", "Ruth Calder", ["Ruth Caldor"]),
        ("paid by Caler", "Calder", ["Caler"]),
        ("short", "shirt", []),
        ("anything", "", []),
        ("anything", "\u200b", []),
    ],
)
def test_locate(text, quotation, found):
    """Every exact occurrence; else the best close one, in whole words; else nothing."""
    assert [span.of(text) for span in locate(quotation, fold(text))] == found


@each_row(
    "text, expected",
    [
        ("Dr. Osei came. He left.", ["Dr. Osei came.", "He left."]),
        ("It cost 3.5 pounds. Yes!", ["It cost 3.5 pounds.", "Yes!"]),
        ("She met J. Smith. Then?", ["She met J. Smith.", "Then?"]),
        ('He said "no." She went.', ['He said "no."', "She went."]),
        ("Title\n\nBody text", ["Title", "Body text"]),
        ("List:\n- one\n- two", ["List:", "- one", "- two"]),
        ("彼は来た。そして帰った。", ["彼は来た。", "そして帰った。"]),
        ("e.g. this one", ["e.g. this one"]),
        ("   ", []),
    ],
)
def test_sentences(text, expected):
    """A name is not cut from its title, and nothing is lost between sentences."""
    assert [span.of(text) for span in sentences(text)] == expected


@given(st.text(max_size=200))
def test_sentences_hold_everything_but_space(text):
    """Sentences lie apart, in order, and leave out whitespace alone."""
    spans = sentences(text)

    assert splice(text, spans, lambda _: "").strip() == ""
    assert all(span.of(text).strip() == span.of(text) for span in spans)
    assert all(span.of(text) for span in words(text))


@each_row(
    "hostile, found",
    [("." * 300_000 + "x", 1), ("\n" + " " * 300_000, 0), (".'" * 99_999, 1)],
)
def test_hostile_texts_are_read_once(hostile, found):
    """No run of marks makes the segmenter start over at each of them."""
    assert len(sentences(hostile)) == found
    assert len(words(hostile)) <= 1
