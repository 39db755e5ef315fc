"""Leaving out patterns that cannot match changes nothing that the scan finds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdrag.guardrails.injection import patterns
from sdrag.guardrails.injection.disguises import views

ROOT = Path(__file__).parents[2]
Found = list[tuple[str, int, int]]
LISTED = patterns.list_patterns(ciphered=True)
ALL = [pattern for listed in LISTED.values() for pattern in listed]
WORDS = sorted({word for pattern in ALL for word in pattern.needs})


def by_every_pattern(text: str, *, ciphered: bool) -> Found:
    """Find phrases with every pattern, tried everywhere."""
    return [
        (name, *match.span())
        for name, listed in patterns.list_patterns(ciphered=ciphered).items()
        for pattern in listed
        for match in compiled(pattern.match).finditer(text)
    ]


compiled = cache(re.compile)


def by_index(text: str, *, ciphered: bool) -> Found:
    return list(patterns.find(text, ciphered=ciphered))


def rows(name: str) -> list[str]:
    path = ROOT / "benchmarks" / "injection" / f"{name}.jsonl"
    return [json.loads(row)["text"] for row in path.read_text("utf-8").splitlines()]


def differing(texts: Iterable[str]) -> list[str]:
    """Return the readings of texts of which the index makes something else."""
    readings = (view.text for text in texts for view in views(text))
    return [
        text
        for text in readings
        if sorted(by_every_pattern(text, ciphered=True))
        != sorted(by_index(text, ciphered=True))
    ]


@pytest.mark.parametrize("step", [40, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["attacks", "harmless"])
def test_texts_are_found_suspicious_as_by_every_pattern(name: str, step: int) -> None:
    """Texts one by one, and a text in which many orders follow each other."""
    texts = rows(name)

    assert not differing([*texts[::step], "\n".join(texts[:40])])


@given(
    text=st.lists(
        st.sampled_from(WORDS)
        | st.sampled_from((". ", ", ", ": ", " all ", " your ", '"', "\n", "\ud800"))
        | st.text(max_size=3),
        max_size=25,
    ).map("".join),
    ciphered=st.booleans(),
)
def test_words_of_patterns_in_any_order(text: str, *, ciphered: bool) -> None:
    """Texts made of nothing but what patterns ask for."""
    expected = by_every_pattern(text, ciphered=ciphered)

    assert sorted(expected) == sorted(by_index(text, ciphered=ciphered))


_HEALTH = [HealthCheck.too_slow, HealthCheck.filter_too_much]
"""Some patterns are slow to make texts of; what is tried is no fewer for it."""


@pytest.mark.parametrize("pattern", ALL)
@settings(deadline=None, max_examples=6, suppress_health_check=_HEALTH)
@given(data=st.data())
def test_what_a_pattern_matches_has_a_word_that_it_needs(
    pattern: patterns.Pattern, data: st.DataObject
) -> None:
    """Texts that are made from the patterns themselves."""
    match = re.search(pattern.match, data.draw(st.from_regex(pattern.match)))

    assert match
    assert all(pattern.needs)
    assert any(word in match.group() for word in pattern.needs)
