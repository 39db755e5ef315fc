"""
Capitals for a text that has none.

Names are found by their capitals. In a message all in lower case, a word that English
does not have, or that is a given name before it is anything else, gets one. Every
character keeps its place.
"""

from __future__ import annotations

import re

from sdrag.detectors.local import tables
from sdrag.detectors.local.runs import is_common

__all__ = ["capitalised"]

_WORD = re.compile(r"(?<![\w@./:-])[^\W\d_]{3,}(?![\w@/:']|\.\w)")
_FREQUENT = 3000


def capitalised(text: str) -> str:
    """Return the text with capitals where names may be, if it has none itself."""
    return _WORD.sub(_cased, text) if text.islower() else text


def _cased(match: re.Match[str]) -> str:
    word = match.group()
    capital = word[0].upper()
    if len(capital) != 1 or not _may_name(word):
        return word
    return capital + word[1:]


def _may_name(word: str) -> bool:
    if not is_common(word):
        return True
    given = word.capitalize() in tables.first_names()
    return given and tables.common_words().get(word, 0) > _FREQUENT
