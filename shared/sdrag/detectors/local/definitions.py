"""Short names that a text defines for itself: (hereinafter "the University")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import GENERIC

__all__ = ["definitions"]

_DEFINED = re.compile(
    r"[\w)]\"? ?\([^()\"\n]{0,40}\"(?:the )?"
    r"([A-Z][\w.&'-]*(?: [A-Z][\w.&'-]*){0,4})\"\)"
)
_MOST = 50


def definitions(text: str) -> Iterator[Found]:
    """Yield every later mention of what is defined, unless all texts define it."""
    names = {match[1] for match in _DEFINED.finditer(text)}
    telling = sorted(name for name in names if not GENERIC.issuperset(name.split()))
    if not telling:
        return
    anywhere = "|".join(map(re.escape, telling[:_MOST]))
    for match in re.finditer(rf"(?<!\w)(?:[Tt]he )?(?:{anywhere})(?!\w)", text):
        yield Found(*match.span(), "ORGANIZATION", 0.5, "defined")
