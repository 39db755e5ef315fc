"""Firms called after their partners: Davis, Reynolds and Williamson."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local import tables
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.words import Tokens

__all__ = ["partnerships"]

_PARTNERS = re.compile(
    r"([A-Z]\w+), ([A-Z]\w+),? (?:and|&) ([A-Z]\w+)(?!\w|,| [A-Z]\w+,)"
)
# A list of people stands behind a colon or a verb; a firm behind these.
_CUE = re.compile(r"(?:\bThe|\b(?:at|for|from|of|joined)|^|[\n>?;|])[ \t]*$")


def partnerships(tokens: Tokens) -> Iterator[Found]:
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
                yield Found(*match.span(), "ORGANIZATION", 0.8, "partners")
