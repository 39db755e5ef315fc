"""
What an answer gives away and what it still says: equations 9 and 10 of SD-RAG.

Privacy (equation 9, section IV-B1): a constraint is broken when one of its witness
words is in what was released, at word boundaries and whatever its case.

Completeness (equation 10): for every fact of the golden answer, the cosine of the most
similar fact of the answer, averaged. The paper's facts are listed by a language model;
sentences stand for them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from sdrag.embeddings import embed_texts
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Span

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_WORD = re.compile(r"\w+")


def find_broken(
    released: str, witnesses: Mapping[str, Sequence[str]]
) -> frozenset[str]:
    """Return the constraints that a released text breaks."""
    return frozenset(
        n for n, words in witnesses.items() if witness_spans(released, words)
    )


def share_kept(constraints: Collection[str], broken_ones: Collection[str]) -> float:
    """Return the share of constraints that were kept (equation 9)."""
    return 1.0 - len(set(constraints) & set(broken_ones)) / len(constraints)


def lost_words(text: str, released: str, words: Iterable[str]) -> tuple[int, int]:
    """Count the words outside the witness spans that are missing, and all of them."""
    spans = witness_spans(text, words)
    harmless = Counter(
        match.group()
        for match in _WORD.finditer(text.lower())
        if not any(span.start <= match.start() < span.end for span in spans)
    )
    lost = harmless - Counter(_WORD.findall(released.lower()))
    return lost.total(), harmless.total()


def witness_spans(text: str, words: Iterable[str]) -> tuple[Span, ...]:
    """Return where witness words are in a text."""
    return tuple(
        Span(*match.span())
        for word in words
        for match in re.finditer(
            rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE
        )
    )


def completeness(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return equation 10 for each pair, from 0 to 1; 0 for an answer without facts."""
    listed = [tuple(map(_sentences, pair)) for pair in pairs]
    unique = list(
        dict.fromkeys(fact for pair in listed for side in pair for fact in side)
    )
    row = {fact: index for index, fact in enumerate(unique)}
    vectors = embed_texts(unique)
    return [
        _closest(vectors[[row[f] for f in wanted]], vectors[[row[f] for f in given]])
        for wanted, given in listed
    ]


def _sentences(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


def _closest(wanted: Matrix, given: Matrix) -> float:
    if not len(wanted) or not len(given):
        return 0.0
    return float(np.clip((wanted @ given.T).max(axis=1), 0.0, 1.0).mean())
