"""
Word overlap of a question with sentences, weighted by how telling each word is.

A word that stands in every sentence tells none of them apart, so words are weighted by
their inverse document frequency over the sentences at hand; no list of frequencies is
shipped. Words are stripped of a few English endings, and the commonest are left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

__all__ = ["overlap"]

_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = """
a an the of in on at to for from by with and or but as is are was were be been being do
does did has have had it its this that these those he she they them his her their we you
i our your not no nor if than then so such can could will would shall should may might
must what which who whom whose when where why how many much long far often into over
under about between during after before also there here out up down more most some any
each other only own same s t
"""
_STOP = frozenset(_STOP_WORDS.split())
_ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ed", "ies", "ers", "er", "es")
_SHORT_ENDINGS = ("s", "ly")
_STEM = 6


def overlap(question: str, sentences: Sequence[str]) -> list[float]:
    """Give for each sentence the weighted share of the question's words in it."""
    asked = _stems(question)
    held = [_stems(sentence) for sentence in sentences]
    weights = {
        word: math.log((len(held) + 1) / (sum(word in one for one in held) + 0.5))
        for word in asked
    }
    total = sum(weights.values()) or 1.0
    return [sum(weights[word] for word in asked & one) / total for one in held]


def _stems(text: str) -> frozenset[str]:
    return frozenset(
        _stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP
    )


def _stem(word: str) -> str:
    """Cut an English ending and what goes beyond six letters."""
    for ending in _ENDINGS + _SHORT_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word[:_STEM]
