"""Time is linear in the text: counted in steps, never on a clock."""

from __future__ import annotations

import re

import pytest

from sdrag.disclosure import cut as cutting
from sdrag.disclosure.placeholder_style import PlaceholderStyle
from sdrag.guardrails.injection.classifier import windows
from sdrag.policy import DisclosureSection
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Span


@pytest.fixture
def steps(monkeypatch):
    """Count comparisons of spans."""
    counted = []
    for name in ("contains", "overlaps"):
        own = getattr(Span, name)

        def counting(self, other, own=own):
            counted.append(1)
            return own(self, other)

        monkeypatch.setattr(Span, name, counting)
    return counted


PLAIN = PlaceholderStyle.of((), DisclosureSection(placeholders="plain"))


def every_word(text: str) -> list[Span]:
    return [Span(*match.span()) for match in re.finditer(r"\w+", text)]


@pytest.mark.parametrize("times", [200, 400])
def test_cutting_beside_placeholders_compares_each_span_once(times, steps):
    """However many placeholders stand in the text."""
    text = "[REDACTED] Anna " * times
    words = every_word(text)
    taken = dict.fromkeys(words, frozenset({"a"}))

    left = cutting.cut(text, taken, ["a"], PLAIN).apply(text)

    assert left.text is not None
    assert "Anna" not in left.text
    assert len(steps) <= 2 * len(words)


@pytest.mark.parametrize("times", [200, 400])
def test_a_union_is_asked_in_one_bisection(times, steps):
    """No span is compared with all the others."""
    words = every_word("Lee " * times)
    union = SpanUnion(words)

    assert all(map(union.overlaps, words))
    assert not steps


def test_a_window_without_spaces_ends():
    """In scripts without spaces, no window swallows what follows."""
    text = "\u6f22\u5b57\u6587\u3002" * 500

    assert max(map(len, windows(text))) < 300
    assert "".join(span.of(text) for span in windows(text)) == text
