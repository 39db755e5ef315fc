"""Titles of works and names of campaigns: capitalised phrases in quotation marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found

__all__ = ["quoted"]

_QUOTED = re.compile(
    r"(?<!\w)\"(?=[A-Z])(?!The [A-Z]?\w+\")((?:[^\s\"]{1,30} ){1,9}[^\s\"]{1,30})\""
)
_ENTITLED = re.compile(
    r"\b(?:entitled|titled|headed|headlined|called|named|song|book) ,?$"
)
_CAPITALISED = 2


def quoted(text: str) -> Iterator[Found]:
    """Yield them; a phrase with one capital only where a word in front says so."""
    for match in _QUOTED.finditer(text):
        words = match[1].split()
        capitals = sum(word[0].isupper() for word in words)
        titled = capitals >= _CAPITALISED and words[-1][0].isupper()
        if titled or _ENTITLED.search(text, max(0, match.start() - 14), match.start()):
            yield Found(match.start(1), match.end(1), "TERM", 0.6, "quoted")
