"""
How an address is laid out: which of its words are the street and which the town.

A town stands behind a comma, or between the marks of a list or a quotation, with no
number in it. The rest, with the number of the flat and the postal code, is the street
address; plain lines one below the other are one address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import STREET_HEADS
from sdrag.detectors.local.words import Tokens

__all__ = ["laid_out"]

_MARK = re.compile(r"[>?|]")
_CORNER = re.compile(r"\b(?:the )?corner of $")
_OTHER_STREET = re.compile(r"\.? and (?:[A-Z][\w'-]+ ?){1,3}\b")


def laid_out(tokens: Tokens, first: int, last: int) -> Iterator[Found]:
    """Yield the parts of the address that the tokens from first to last are."""
    street = first
    place = first + 1
    while place <= last:
        end = _town_end(tokens, place, last)
        if end is None:
            place += 1
            continue
        if street < place:
            yield _street(tokens, street, place - 1)
        start = tokens.starts[place]
        yield Found(start, tokens.ends[end], "LOCATION", 0.9, "grown")
        street = place = end + 1
    if street <= last:
        yield _street(tokens, street, last)


def _town_end(tokens: Tokens, place: int, last: int) -> int | None:
    """Return the last token of the town that begins there, if one does."""
    words = tokens.words
    gap = tokens.gap(place)
    if not words[place][0].isupper() or not ("," in gap or _MARK.search(gap)):
        return None
    end = place
    while end < last and tokens.gap(end + 1) == " " and words[end + 1][0].isalpha():
        end += 1
    if any(word in STREET_HEADS for word in words[place : end + 1]):
        return None
    if end == last or _MARK.search(tokens.gap(end + 1)) or "," in tokens.gap(end + 1):
        return end
    # A postal code ends the address.
    coded = _MARK.search(gap) and len(words[end + 1]) > 3 and end + 1 == last
    return end if coded else None


def _street(tokens: Tokens, first: int, last: int) -> Found:
    """Return the street, with the corner and the other street that make it one."""
    start, end = tokens.starts[first], tokens.ends[last]
    lead = _CORNER.search(tokens.text, max(0, start - 16), start)
    if lead:
        other = _OTHER_STREET.match(tokens.text, end)
        start, end = lead.start(), other.end() if other else end
    return Found(start, end, "ADDRESS", 0.9, "grown")
