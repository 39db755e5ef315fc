"""What a pattern cannot match without, and which patterns a text leaves possible."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdrag.text.pattern_index import PatternIndex
from sdrag.text.required_words import required_words

CASES = [
    ("ignore", [{"ignore"}]),
    ("ab?c", [{"ac", "abc"}]),
    ("[ab]c", [{"ac", "bc"}]),
    ("(?:all |any )?(?:of )?your", [{"your"}]),
    ("x(?:all )?y", [{"xy", "xall y"}]),
    (r"\bfoo (?:bar|baz)\b[^.]{0,5}quux", [{"foo bar", "foo baz"}, {"quux"}]),
    (r"(?:a|b\w+c)d{2}", [{"a", "b"}, {"dd"}]),
    ("a(?:b+c)?d", [{"a"}, {"d"}]),
    ("a(?:b+c){2,3}d", [{"a"}, {"b"}, {"c"}, {"d"}]),
    ("(?>ab)++c{3}", [{"ab"}, {"ccc"}]),
    ("(?<!no )(?=t)task(?! of)", [{"task"}]),
    (r"x|y\d", [{"x", "y"}]),
    (r"x|\d", []),
    ("x|", []),
    ("a*", []),
    (".", []),
    ("[^a]", []),
    ("(?i)foo", []),
    ("(?i:foo)bar", [{"bar"}]),
    (r"(a)\1b", [{"a"}, {"b"}]),
]


@pytest.mark.parametrize(("pattern", "words"), CASES)
def test_words_are_read_from_a_pattern(pattern: str, words: list[set[str]]) -> None:
    """What follows each other is one word; what is uncertain requires nothing."""
    assert words == [set(one) for one in required_words(pattern)]


def joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeats = st.sampled_from(("?", "*", "+", "{2}", "{0,3}?", "{1,70}", "?+"))
    return (
        st.lists(parts, min_size=1, max_size=4).map("".join)
        | st.lists(parts, min_size=1, max_size=3).map("|".join).map("(?:{})".format)
        | st.tuples(parts, repeats).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
        | parts.map("(?>{})".format)
        | parts.map("(?={})".format)
        | parts.map("(?!{})".format)
    )


REGEXES = st.recursive(
    st.sampled_from(("a", "b", "ab", "[ab]", "[^a]", "c", r"\b", "^", r"\w", "")),
    joined,
    max_leaves=12,
)


@settings(deadline=None)
@given(REGEXES, st.text("abc ", max_size=12))
def test_every_match_has_a_word_of_each_set(pattern: str, text: str) -> None:
    """Whatever the pattern and the text."""
    for match in re.finditer(pattern, text):
        for words in required_words(pattern):
            assert any(word in match.group() for word in words)


@settings(deadline=None)
@given(st.lists(REGEXES, min_size=1, max_size=6), st.text("abc \ud800", max_size=12))
def test_a_pattern_that_matches_is_possible(patterns: list[str], text: str) -> None:
    """The index leaves out none that finds something."""
    possible = set(PatternIndex(["x", *patterns]).possible(text))

    for number, pattern in enumerate(patterns, start=1):
        if re.search(pattern, text):
            assert number in possible


def test_a_pattern_whose_words_are_absent_is_left_out() -> None:
    """All the words that it requires must be there, anywhere in the text."""
    index = PatternIndex(["red .* car", "blue car", r"\d"])

    assert list(index.possible("a carpet that is red ")) == [0, 2]
    assert list(index.possible("a blue one, or red ")) == [2]
    assert list(index.possible("a red one, no blue car")) == [0, 1, 2]
