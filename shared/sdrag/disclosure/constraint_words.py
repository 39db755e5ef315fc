"""
How many of a constraint's telling words a text holds.

Words are compared without their endings and weighed by how rare they are in English,
not in the corpus: so the share of a pair never changes when other texts are added.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from sdrag.detectors.local.tables import common_words

__all__ = ["overlap"]

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_WORD = re.compile(r"[^\W\d_]{3,}")
_ENDINGS = ("ing", "ed", "es", "s")
_SHORTEST = 4
_UNKNOWN = 60_000


def overlap(wanted: Sequence[str], texts: Sequence[str]) -> Matrix:
    """
    Return, for each wanted text, the weighed share of its words in each text.

    Args:
        wanted: What constraints are about.
        texts: Chunks.

    Returns:
        Shape (wanted, texts), from 0 to 1.
    """
    held = [set(_stems(text)) for text in texts]
    shares = np.zeros((len(wanted), len(texts)), dtype=np.float32)
    for row, text in enumerate(wanted):
        weights = {stem: _weight(word) for stem, word in _stems(text).items()}
        total = sum(weights.values())
        for column, stems in enumerate(held if total else ()):
            found = sum(weights[stem] for stem in weights.keys() & stems)
            shares[row, column] = found / total
    return shares


def _stems(text: str) -> dict[str, str]:
    return {_stem(word): word for word in _WORD.findall(text.lower())}


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word.removesuffix(ending)
    return word


def _weight(word: str) -> float:
    return math.log(2 + common_words().get(word, _UNKNOWN))
