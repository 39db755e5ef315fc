"""Cuts that keep the meaning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.suites.control_bits import accepted_cuts, load_cuts
from sdrag.highlight import verify_highlights
from sdrag.highlight.verification import Scope
from sdrag.vocabulary import Passage, Span


@pytest.mark.parametrize(
    ("text", "cut", "kept"),
    [
        ("We never say that it is safe to eat.", "it is safe to eat", None),
        ("It is safe to eat raw unless it smells.", "It is safe to eat raw", None),
        ("It is safe to eat raw. This is not true.", "It is safe to eat raw", None),
        ("Is it quite safe to eat raw? No.", "it quite safe to eat raw", None),
        (
            "He wrote: \u201cGo on. You can eat it raw.\u201d",
            "You can eat it raw",
            None,
        ),
        (
            "They do not pay for:\n- any loss of luggage\n- the theft of a bag",
            "the theft of a bag",
            None,
        ),
        (
            "It never rains. The cat sat on the old mat. It purrs.",
            "sat on the old mat",
            "The cat sat on the old mat",
        ),
    ],
)
def test_what_governs_comes_along(text, cut, kept):
    """The rest of the sentence, and a sentence that says how it is meant."""
    (one,) = verify_highlights([cut], [Passage("p", text)])

    assert one.text.rstrip(".") == (kept or text).rstrip(".")


def test_the_set_of_turned_cuts():
    """The paper's property lets every one of them through; the default, few."""
    for case in load_cuts():
        assert case.cut in case.text
        assert case.turn in case.text.replace(case.cut, "")
    assert accepted_cuts("words")["accepted"] == len(load_cuts())
    assert accepted_cuts("sentences")["accepted"] <= len(load_cuts()) // 8


@given(st.text(max_size=200), st.data())
def test_it_only_grows(text, data):
    """The widened span holds the span, and widening it again changes nothing more."""
    if not text:
        return
    start = data.draw(st.integers(0, len(text) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(text))))

    wide = Scope.of(text).widen(span)

    assert wide.contains(span)
    assert wide.end <= len(text)
