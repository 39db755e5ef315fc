"""
Overlap of a question with sentences, weighted by how telling each part is.

Words are compared by their runs of four characters, so that endings need no rules. A
run that stands in every sentence tells none of them apart, so runs are weighted by
their inverse document frequency over the sentences at hand; no list of frequencies is
shipped. The commonest English words are left out of the question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

__all__ = ["is_telling", "overlap"]

_WORD = re.compile(r"\w+")
_STOP_WORDS = """
a an the of in on at to for from by with and or but as is are was were be been being do
does did has have had it its this that these those he she they him his her their we you
i our your not no nor if than then so such can could will would shall should may might
must what which who whom whose when where why how many much long far often into over
under about between during after before also there here out up down more most some any
each other only own same s t
"""
_STOP = frozenset(_STOP_WORDS.split())
_RUN = 4


def is_telling(word: str) -> bool:
    """Say whether a lower-case word is one, and none of the commonest."""
    return word.isalnum() and word not in _STOP


def overlap(question: str, sentences: Sequence[str]) -> list[float]:
    """Give for each sentence the weighted share of the question's runs in it."""
    words = [word for word in _WORD.findall(question.lower()) if word not in _STOP]
    asked = _runs(" ".join(words))
    held = [asked & _runs(sentence.lower()) for sentence in sentences]
    weights = {
        run: math.log((len(held) + 1) / (sum(run in one for one in held) + 0.5))
        for run in asked
    }
    total = sum(weights.values()) or 1.0
    return [sum(weights[run] for run in sorted(one)) / total for one in held]


def _runs(text: str) -> frozenset[str]:
    return frozenset(text[at : at + _RUN] for at in range(len(text) - _RUN + 1))
