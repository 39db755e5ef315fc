"""
Stems: words without their endings, to compare texts by.

Both sides of a comparison go through the same stemmer, so a few endings are enough:
plurals, the past and `ing`. A stem need not be a word.
"""

from __future__ import annotations

import re

_ENDINGS = (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("xes", "x"))
_LEAST = 3
"""Letters that stay when an ending goes."""


def stem(word: str) -> str:
    """Return a folded word without its endings; what is no word stays as it is."""
    if not word.isalpha():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST - 1:
            word = word[: -len(ending)] + instead
            break
    else:
        word = _without_ending(word)
    return word.removesuffix("e") if len(word) > _LEAST else word


def _without_ending(word: str) -> str:
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1] if len(word) > _LEAST else word
    if word.endswith("eed"):
        return word
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _LEAST and re.search("[aeiouy]", rest):
            doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
        if ending == "ed" and rest != word and re.search("[aeiouy]", rest):
            return word[:-1]
    return word
