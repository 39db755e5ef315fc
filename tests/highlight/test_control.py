"""The bound on an attacker's choice, against counting by hand."""

from __future__ import annotations

import math
from itertools import combinations
from typing import get_args

import pytest

from benchmarks.suites.control_theorem import (
    admissible_sets,
    bits_of_control,
    bits_of_prompt,
)
from sdrag.highlight import CutAt, verify_highlights
from sdrag.vocabulary import Passage


def by_hand(texts: list[str], min_words: int, most: int, cut_at: CutAt) -> int:
    """Ask verification for everything that an attacker could return."""
    passages = [Passage(f"p{index}", text) for index, text in enumerate(texts)]

    def outcome(extracts: list[str]) -> tuple[object, ...]:
        found = verify_highlights(
            extracts, passages, min_words, 100, cut_at=cut_at, max_highlights=99
        )
        return tuple((item.passage_id, item.span) for item in found)

    cuts = {
        text[start:end]
        for text in texts
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
    }
    single = {outcome([cut]): cut for cut in sorted(cuts)}
    single.pop((), None)
    sets = {()}
    for count in range(1, most + 1):
        for chosen in combinations(single.values(), count):
            found = outcome(list(chosen))
            if len(found) <= most:
                sets.add(found)
    return len(sets)


CORPORA = [
    (["a b c d e", "f g h i"], 2, 2),
    (["a b c d e f g h"], 2, 3),
    (["not b c. e if h. j k"], 2, 2),
    (["un-able b, $5 c d. e f"], 2, 2),
    (["a b (c d) e"], 1, 2),
    (["A bb. Cc. D ee. F gg."], 2, 2),
    (["Aa bb. Cc dd ee! This is not so. Dd"], 2, 2),
    (["Never: a bb. Cc d! It is false."], 2, 2),
]


@pytest.mark.parametrize("cut_at", get_args(CutAt))
def test_it_counts_what_verification_lets_through(cut_at):
    """The number of admissible sets is the number of outcomes there are."""
    for texts, least, most in CORPORA:
        expected = by_hand(texts, least, most, cut_at)
        assert admissible_sets(texts, least, most, cut_at=cut_at) == expected


def test_stricter_modes_leave_less():
    """Sentences leave no more to choose than words."""
    text = "It is not so that we pay. You get a refund, if you ask for it. We do pay."
    bits = [bits_of_control([text], 3, 2, cut_at=cut) for cut in get_args(CutAt)]

    assert bits == sorted(bits, reverse=True)


def test_a_plain_prompt():
    """K tokens over a vocabulary of V: V + V^2 + ... + V^K prompts."""
    assert bits_of_prompt(2, 10) == pytest.approx(math.log2(110))
    assert bits_of_prompt(8, 1) == 3.0
