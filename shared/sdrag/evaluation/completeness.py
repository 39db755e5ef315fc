"""
Completeness (SD-RAG, equation 10): how much of the golden answer can still be said.

For every fact of the golden answer, the cosine of the most similar fact of the answer,
averaged. The paper's facts are listed by a language model; without a judge, sentences
stand for facts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sdrag.minilm import embed_texts
from sdrag.text.sentences import sentences

__all__ = ["Facts", "completeness", "sentence_facts"]

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]
Facts = Callable[[str], Sequence[str]]
"""Lists the facts that a text states."""


def sentence_facts(text: str) -> list[str]:
    """Take each sentence for a fact."""
    return [span.of(text) for span in sentences(text)]


def completeness(
    pairs: Sequence[tuple[str, str]], facts: Facts = sentence_facts
) -> list[float]:
    """
    Return equation 10 for each pair, from 0 to 1; 0 for an answer without facts.

    Args:
        pairs: Golden answers and what was released.
        facts: How facts are listed.
    """
    listed = [(list(facts(golden)), list(facts(answer))) for golden, answer in pairs]
    unique = list(
        dict.fromkeys(fact for pair in listed for side in pair for fact in side)
    )
    row = {fact: index for index, fact in enumerate(unique)}
    vectors = embed_texts(unique)
    return [
        _closest(vectors[[row[f] for f in wanted]], vectors[[row[f] for f in given]])
        for wanted, given in listed
    ]


def _closest(wanted: Matrix, given: Matrix) -> float:
    if not len(wanted) or not len(given):
        return 0.0
    return float(np.clip((wanted @ given.T).max(axis=1), 0.0, 1.0).mean())
