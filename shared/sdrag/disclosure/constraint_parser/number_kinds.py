"""
Which kinds of numbers a constraint asks for: "passport, visa and ticket numbers".

The nouns are those of the detector's table of kinds. A word in front of them that is in
no row of it leaves all numbers of the list to be any code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sdrag.detectors.local.number_kinds import number_kinds
from sdrag.detectors.local.tables import FUNCTION_WORDS, common_words
from sdrag.disclosure.constraint_parser.words import word_set
from sdrag.vocabulary import Span

_NUMBERS = (
    r"(?:(?:reference |registration |identification |id )?"
    r"(?:numbers?|nos?\.?|ids?|codes?|refs?|identifiers?"
    r"|references?(?! (?:from|for|about|letter|check))))\b"
)
_JOIN = r"(?:, (?:and |or )?| and | or |/| & )"
_OF = (
    r"\b(?:numbers?|ids?|identifiers?|references?) (?:of|on) "
    r"(?:(?:the|their|all|any|our) )?"
)
_BEFORE = re.compile(r"([A-Za-z'-]+)(?:,| and| or|,? &|/) ?$")


def find_kinds(
    content: str, known: Sequence[Span]
) -> Iterator[tuple[Span, frozenset[str]]]:
    """
    Yield the phrases that name kinds of numbers, and those kinds.

    `known`: what in the constraint names a type already.
    """
    for pattern in _phrases():
        for match in pattern.finditer(content):
            if not _shares_unknown(content[: match.start()], known):
                yield Span(*match.span()), _kinds_in(match.group())


def _shares_unknown(before: str, known: Sequence[Span]) -> bool:
    """Say whether a noun in front shares the numbers and is of no kind."""
    match = _BEFORE.search(before)
    if match is None or match[1].endswith("s"):
        return False
    if any(span.overlaps(Span(*match.span(1))) for span in known):
        return False
    word = match[1].lower()
    silent = word in FUNCTION_WORDS or word in word_set("orders")
    return not silent and word in common_words()


@lru_cache(maxsize=1)
def _phrases() -> tuple[re.Pattern[str], ...]:
    """Return patterns for lists of nouns before and behind a word for numbers."""
    rows = number_kinds().values()
    noun = f"(?:{'|'.join(kind.asked for kind in rows if kind.asked)})(?:'s?)?"
    nouns = rf"{noun}\b(?:{_JOIN}{noun}\b)*"
    alone = "|".join(kind.alone for kind in rows if kind.alone)
    return (
        re.compile(rf"\b{nouns} {_NUMBERS}", re.IGNORECASE),
        re.compile(rf"{_OF}{nouns}", re.IGNORECASE),
        re.compile(rf"\b(?:{alone})\b", re.IGNORECASE),
    )


def _kinds_in(phrase: str) -> frozenset[str]:
    """Return the kinds whose nouns are in a phrase, of overlapping ones the longer."""
    found: list[tuple[Span, str]] = []
    for kind in number_kinds().values():
        for words in filter(None, (kind.asked, kind.alone)):
            matches = re.finditer(rf"\b(?:{words})\b", phrase, re.IGNORECASE)
            found += ((Span(*match.span()), kind.name) for match in matches)
    return frozenset(
        name
        for span, name in found
        if not any(len(o) > len(span) and o.contains(span) for o, _ in found)
    )
