"""
Capitals for sentences that have none.

Names are found by their capitals. In a sentence all in lower case, but for the word I,
a word that English does not have, or that is a given name before it is anything else,
gets one. Every character keeps its place, and no sentence looks at another.
"""

from __future__ import annotations

import re

from sdrag.detectors.local import tables
from sdrag.detectors.local.runs import is_common
from sdrag.text.sentences import sentences

__all__ = ["capitalised", "has_no_capitals"]

_WORD = re.compile(r"(?<![\w@./:-])[^\W\d_]{3,}(?![\w@/:']|\.\w)")
_I = re.compile(r"\bI\b")
_FREQUENT = 3000


def capitalised(text: str) -> str:
    """Return the text with capitals where names may be, in sentences without any."""
    pieces: list[str] = []
    done = 0
    for sentence in sentences(text):
        said = sentence.of(text)
        if has_no_capitals(said):
            pieces += [text[done : sentence.start], _WORD.sub(_cased, said)]
            done = sentence.end
    return "".join([*pieces, text[done:]])


def has_no_capitals(sentence: str) -> bool:
    """Say whether all letters are small, but for the word I."""
    return _I.sub("i", sentence).islower()


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
