"""
Names that punctuation gives away.

Titles in quotation marks, short names that a text defines for itself (hereinafter "the
University"), and firms called after their partners (Davis, Reynolds and Williamson).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local import tables
from sdrag.detectors.local.tables import GENERIC
from sdrag.detectors.local.tokens import Candidate, Tokens

_QUOTED = re.compile(
    r"(?<!\w)\"(?=[A-Z])(?!The [A-Z]?\w+\")((?:[^\s\"]{1,30} ){1,9}[^\s\"]{1,30})\""
)
_ENTITLED = re.compile(
    r"\b(?:entitled|titled|headed|headlined|called|named|song|book) ,?$"
)
_CAPITALISED = 2


def quoted(text: str) -> Iterator[Candidate]:
    """Yield them; a phrase with one capital only where a word in front says so."""
    for match in _QUOTED.finditer(text):
        words = match[1].split()
        capitals = sum(word[0].isupper() for word in words)
        titled = capitals >= _CAPITALISED and words[-1][0].isupper()
        if titled or _ENTITLED.search(text, max(0, match.start() - 14), match.start()):
            yield Candidate(match.start(1), match.end(1), "TERM", 0.6, "quoted")


_DEFINED = re.compile(
    r"[\w)]\"? ?\([^()\"\n]{0,40}\"(?:the )?"
    r"([A-Z][\w.&'-]*(?: [A-Z][\w.&'-]*){0,4})\"\)"
)
_MOST = 50


def definitions(text: str) -> Iterator[Candidate]:
    """Yield every later mention of what is defined, unless all texts define it."""
    names = {match[1] for match in _DEFINED.finditer(text)}
    telling = sorted(name for name in names if not GENERIC.issuperset(name.split()))
    if not telling:
        return
    anywhere = "|".join(map(re.escape, telling[:_MOST]))
    for match in re.finditer(rf"(?<!\w)(?:[Tt]he )?(?:{anywhere})(?!\w)", text):
        yield Candidate(*match.span(), "ORGANIZATION", 0.5, "defined")


_PARTNERS = re.compile(
    r"([A-Z]\w+), ([A-Z]\w+),? (?:and|&) ([A-Z]\w+)(?!\w|,| [A-Z]\w+,)"
)
# A list of people is behind a colon or a verb; a firm behind these.
_CUE = re.compile(r"(?:\bThe|\b(?:at|for|from|of|joined)|^|[\n>?;|])[ \t]*$")


def partnerships(tokens: Tokens) -> Iterator[Candidate]:
    """Yield them."""
    surnames = tables.surnames()
    for word in tokens.where:
        if word not in surnames:
            continue
        for index in tokens.where[word]:
            match = _PARTNERS.match(tokens.text, tokens.starts[index])
            if (
                match
                and all(partner in surnames for partner in match.groups())
                and _CUE.search(tokens.text, max(0, match.start() - 10), match.start())
            ):
                yield Candidate(*match.span(), "ORGANIZATION", 0.8, "partners")
