"""
Words: what counts as one, and where a text may be cut.

The paper counts "at least `min_words` words" and says no more. Two readings matter to
an attacker. A word must be hard to fake, so a word is what is between spaces and
holds a letter or a digit: "a.b.c.d.e" is one word, and a placeholder is none. And a cut
must not make another word, so a hyphen, an apostrophe or a point between letters holds
a word together: "refundable" cannot be cut out of "non-refundable", "10" not out of
"$10", nor "5" out of "-5". A line that ends after the hyphen parts no word, nor does
Markdown in "un**lawful**". A comma or a dash next to a space holds nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from sdrag.text.folding import is_unspaced
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Span

# One of these between two letters or digits joins them; two in a row do not.
_CONNECTORS = frozenset(
    "'\u2019\u2018\u02bc-\u2010\u2011\u2012\u2013\u2212./,:@&+_%*#=\\"
)
_SIGNS_BEFORE = frozenset("$\u20ac\u00a3\u00a5+-\u2212\u2013\u00b1~<>\u2264\u2265#@")
_SIGNS_AFTER = frozenset("%\u2030\u00b0$\u20ac\u00a3\u00a5")
_WITHIN = re.compile(
    r"(?<=[^\W\d_])[-\u2010\u00ad][ \t]*\r?\n[ \t>]*(?=[^\W\d_])"
    r"|(?<=[^\W_])[*_~`]+(?=[^\W_])"
)
"""What parts a word to the eye: a hyphen and the end of its line, and emphasis."""
_REACH = 32
_TOKEN = re.compile(r"\S+")
_UNSPACED_PER_WORD = 2
_MAX_OCCURRENCES = 1_000
"""How many occurrences in a text are looked at before a search gives up."""


def count_words(text: str, span: Span, withheld: Sequence[Span] = ()) -> int:
    """
    Count the words of a span.

    Scripts written without spaces count one word for two characters.

    `withheld`: placeholders; a word that touches one counts for nothing.
    """
    holes = SpanUnion(withheld)
    return sum(
        _count(token.group())
        for token in _TOKEN.finditer(text, span.start, span.end)
        if not holes.overlaps(Span(*token.span()))
    )


def holds_a_word(text: str) -> bool:
    """Say whether there is a letter or a digit in a text."""
    return any(character.isalnum() for character in text)


def cuts_a_word(text: str, position: int) -> bool:
    """Say whether a cut at `position` falls within a word, a number or its sign."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    if _in_word(before) and _in_word(after):
        return not (is_unspaced(before) or is_unspaced(after))
    if _is_within(text, position):
        return True
    if _in_word(before) and after in _CONNECTORS | _SIGNS_AFTER:
        joined = after in _CONNECTORS and _in_word(text[position + 1 : position + 2])
        return joined or (before.isdigit() and after in _SIGNS_AFTER)
    if before in _CONNECTORS | _SIGNS_BEFORE and _in_word(after):
        beyond = text[position - 2] if position > 1 else ""
        joined = before in _CONNECTORS and _in_word(beyond)
        return joined or (after.isdigit() and before in _SIGNS_BEFORE)
    return False


def _is_within(text: str, position: int) -> bool:
    """Say whether a cut falls where only the setting of a text parts a word."""
    if text[position - 1].isalnum() and text[position].isalnum():
        return False
    low, high = max(0, position - _REACH), min(len(text), position + _REACH)
    parts = _WITHIN.finditer(text, low, high)
    return any(match.start() <= position <= match.end() for match in parts)


def find_occurrences(needle: str, text: str) -> Iterator[int]:
    """Yield where a needle occurs in a text, also within itself, within a bound."""
    start = -1
    for _ in range(_MAX_OCCURRENCES):
        start = text.find(needle, start + 1)
        if start < 0:
            return
        yield start


def is_whole(text: str, span: Span) -> bool:
    """Say whether neither end of a span cuts a word."""
    return not (cuts_a_word(text, span.start) or cuts_a_word(text, span.end))


def widen(text: str, span: Span) -> Span:
    """Extend a span until neither end cuts a word."""
    start, end = span.start, span.end
    while cuts_a_word(text, start):
        start -= 1
    while cuts_a_word(text, end):
        end += 1
    return Span(start, end)


def _count(token: str) -> int:
    unspaced = sum(map(is_unspaced, token))
    spaced = any(
        character.isalnum() and not is_unspaced(character) for character in token
    )
    return unspaced // _UNSPACED_PER_WORD + spaced


def _in_word(character: str) -> bool:
    """Say whether a character belongs to words; marks and invisible ones do too."""
    if not character:
        return False
    category = unicodedata.category(character)
    return character.isalnum() or category[0] == "M" or category == "Cf"
