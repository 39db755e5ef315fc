"""Time is linear in the text: counted in steps, never on a clock."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants as codes
from re import _parser as parser
from typing import Any

import pytest

import sdrag.detectors
import sdrag.disclosure.local
import sdrag.guardrails
from sdrag.disclosure import cut as cutting
from sdrag.disclosure.cut import PlaceholderStyle
from sdrag.guardrails.injection.classifier import windows
from sdrag.policy import DisclosureSection
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Span

PACKAGES = (
    sdrag.detectors,
    sdrag.disclosure.local,
    sdrag.guardrails,
)
MODULES = (
    "sdrag.text.decoding",
    "sdrag.text.readings",
    "sdrag.text.sentences",
    "sdrag.text.folding",
    "sdrag.text.phrase_matcher",
    "sdrag.text.spans",
)
UNBOUNDED = 64
"""A repetition that may be longer is as good as endless inside another one."""
REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT}


def modules() -> Iterator[Any]:
    yield from map(importlib.import_module, MODULES)
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.rpartition(".")[2] not in {"network", "tagger_network"}:
                yield importlib.import_module(found.name)


def patterns() -> dict[str, re.Pattern[str]]:
    named = {}
    for module in modules():
        for name, value in vars(module).items():
            for item in value.values() if isinstance(value, dict) else [value]:
                if isinstance(item, re.Pattern) and isinstance(item.pattern, str):
                    named[f"{module.__name__}.{name} {item.pattern[:20]}"] = item
    return named


def inside(items: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every part of a parsed pattern; what is possessive is never given back."""
    for code, argument in items:
        yield code, argument
        if code in {codes.ATOMIC_GROUP, codes.POSSESSIVE_REPEAT}:
            continue
        if code in REPEATS:
            yield from inside(argument[2])
        elif code == codes.SUBPATTERN:
            yield from inside(argument[3])
        elif code == codes.BRANCH:
            for branch in argument[1]:
                yield from inside(branch)


def is_endless(code: Any, argument: Any) -> bool:
    return code in REPEATS and argument[1] > UNBOUNDED


def branches(items: Any) -> Iterator[list[tuple[Any, Any]]]:
    """Yield what one round of a repetition may be made of."""
    listed = list(items)
    if len(listed) == 1 and listed[0][0] == codes.SUBPATTERN:
        yield from branches(listed[0][1][3])
    elif len(listed) == 1 and listed[0][0] == codes.BRANCH:
        for branch in listed[0][1][1]:
            yield from branches(branch)
    else:
        yield listed


def is_fenced(items: list[tuple[Any, Any]]) -> bool:
    """Say whether a round has a character of its own, so it is read in one way only."""
    return any(
        code in {codes.LITERAL, codes.IN, codes.NOT_LITERAL} for code, _ in items
    )


def ambiguous(pattern: str, flags: int) -> bool:
    """Say whether an endless repetition has another one in it and no fence between."""
    return any(
        is_endless(code, argument)
        and any(
            any(is_endless(*part) for part in inside(items)) and not is_fenced(items)
            for items in branches(argument[2])
        )
        for code, argument in inside(parser.parse(pattern, flags))
    )


def test_no_pattern_repeats_what_repeats():
    """Such a pattern tries every way of parting a text before it gives up."""
    slow = [
        name
        for name, pattern in patterns().items()
        if ambiguous(pattern.pattern, pattern.flags & ~re.UNICODE)
    ]

    assert not slow
    assert all(ambiguous(text, 0) for text in (r"(a+)+b", r"(?:\w+|\d+)*!"))
    assert not any(ambiguous(text, 0) for text in (r"\w+(?:-\w+)*", r"(?:a++)+b"))


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
