"""
Paraphrases: forms of one type that are near in meaning, by their embeddings.

"night pilot on the ferry" is "steers the ferry on the late shift". Forms are joined
nearest first, and a group takes a form in only if it is near to all of the group:
joining by single links would wander from one meaning to another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sdrag.effects.steps import Steps, embed, replied
from sdrag.text.values import stated_numbers

MOST_FORMS = 20_000
"""A type with more forms is not compared, and the report says so."""
_CHUNK = 1000
_DIGITS = 6
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Vectors = Mapping[str, np.ndarray[tuple[int], np.dtype[np.float32]]]
"""By text, its vector of unit length."""


def embed_texts(texts: Sequence[str], known: Vectors) -> Steps[Vectors]:
    """Return a vector for each text; only those that are not known are embedded."""
    new = [text for text in dict.fromkeys(texts) if text not in known]
    outcomes = yield from embed(new)
    fresh = dict(zip(new, map(replied, outcomes), strict=True))
    return {text: fresh[text] if text in fresh else known[text] for text in texts}


def meaning_pairs(
    folded: Sequence[str], vectors: Matrix, threshold: float
) -> Iterator[tuple[int, int]]:
    """Yield pairs of forms that are to be one."""
    numbers = [stated_numbers(form) for form in folded]
    group = {number: [number] for number in range(len(folded))}
    for _, left, right in sorted(_near(vectors, threshold)):
        left_group, right_group = group[left], group[right]
        if left_group is right_group or not _agree(
            numbers, (*left_group, *right_group)
        ):
            continue
        cosine = vectors[left_group] @ vectors[right_group].T
        if (cosine.round(_DIGITS) < threshold).any():
            continue
        yield left, right
        left_group.extend(right_group)
        for number in right_group:
            group[number] = left_group


def _near(vectors: Matrix, threshold: float) -> Iterator[tuple[float, int, int]]:
    for low in range(0, len(vectors), _CHUNK):
        cosine = (vectors[low : low + _CHUNK] @ vectors.T).round(_DIGITS)
        for row, column in np.argwhere(cosine >= threshold).tolist():
            if low + row < column:
                yield -float(cosine[row, column]), low + row, column


def _agree(numbers: Sequence[frozenset[str]], forms: Sequence[int]) -> bool:
    """Say whether no two forms state different numbers."""
    return len({numbers[form] for form in forms} - {frozenset()}) <= 1
