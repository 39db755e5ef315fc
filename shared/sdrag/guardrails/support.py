"""
The local scorer: how far evidence supports a claim.

No model here can infer; what can be measured is whether the evidence says the same
things. Four measurements, each over the claim's content words: the share, weighted by
rarity, that is in one neighbourhood of three sentences; the numbers and the names
that stand anywhere; and how close each word piece of the claim is to the closest piece
of the best sentences, in MiniLM's contextual embeddings (BERTScore recall, Zhang et
al. 2020, section 3). A number that occurs nowhere weighs most, since it is the part of
a claim that a paraphrase cannot carry. The weights are hand-set.

A negation on one side alone halves the support: the words agree, and the claim is the
opposite.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sdrag.guardrails.comparable_words import (
    content_words,
    is_function_word,
    negated,
    numbers,
    shares,
)
from sdrag.minilm import load_minilm

if TYPE_CHECKING:
    Row = np.ndarray[tuple[int], np.dtype[np.float32]]
    Pieces = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Support", "support"]

Weights = Mapping[str, float]
"""The content words of a claim, with weights that sum to 1."""
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'-]+")
_CANDIDATES = 6
_NEIGHBOURHOODS = 2
_LONGEST = 800
_MOST_CITED = 4
_LEAST_GAIN = 0.12
_SLOPE, _MIDDLE = 3.0, 3.05
_PENALTY_OF_NEGATION = 0.5


@dataclass(frozen=True, slots=True)
class Support:
    """
    How far a claim is supported.

    Args:
        score: From 0 to 1.
        sentences: The places of the sentences that support it best, ascending.
    """

    score: float
    sentences: tuple[int, ...]


def support(claim: str, evidence: Sequence[str]) -> Support:
    """
    Score a claim against the sentences of the evidence.

    Raises:
        MissingExtraError: The extra `local` is not installed.
    """
    sets = [frozenset(content_words(sentence)) for sentence in evidence]
    weights = _weigh(claim, sets)
    if not weights or not evidence:
        return Support(0.0, ())
    covers = [_coverage(weights, words) for words in sets]
    around = [
        _coverage(weights, frozenset().union(*sets[max(0, at - 1) : at + 2]))
        for at in range(len(sets))
    ]
    best = sorted(range(len(sets)), key=covers.__getitem__, reverse=True)
    texts = [evidence[at][:_LONGEST] for at in best[:_CANDIDATES]]
    texts += [
        " ".join(evidence[max(0, at - 1) : at + 2])[:_LONGEST]
        for at in best[:_NEIGHBOURHOODS]
    ]
    closeness = _closeness(claim, texts)
    value = max(around) + 3.0 * closeness.mean() + 0.05 * np.log(closeness).sum()
    value += _figures(claim, evidence) + 0.2 * _names(claim, sets)
    score = 1.0 / (1.0 + math.exp(-_SLOPE * (float(value) - _MIDDLE)))
    cited = _cited(weights, sets)
    if negated(claim) != any(negated(evidence[at]) for at in cited):
        score *= _PENALTY_OF_NEGATION
    return Support(score, cited)


def _weigh(claim: str, sets: Sequence[frozenset[str]]) -> Weights:
    """Weigh a claim's words by how rare they are in the evidence."""
    counts = Counter(word for words in sets for word in words)
    rarity = {
        word: math.log(1.0 + (len(sets) + 1.0) / (1.0 + counts[word]))
        for word in content_words(claim)
    }
    whole = sum(rarity.values())
    return {word: weight / whole for word, weight in rarity.items()}


def _coverage(weights: Weights, words: frozenset[str]) -> float:
    return sum(weight for word, weight in weights.items() if shares(word, words))


def _figures(claim: str, evidence: Sequence[str]) -> float:
    """Reward numbers that are in the evidence, punish those that are not."""
    stated = numbers(claim)
    if not stated:
        return 0.5
    known = numbers(" ".join(evidence))
    return 0.5 * len(stated & known) / len(stated) - 0.2 * len(stated - known)


def _names(claim: str, sets: Sequence[frozenset[str]]) -> float:
    """Return the share of a claim's names that are in the evidence."""
    words: frozenset[str] = frozenset().union(*sets)
    names = [word for name in _NAME.findall(claim) for word in content_words(name)]
    return sum(name in words for name in names) / len(names) if names else 1.0


def _closeness(claim: str, texts: Sequence[str]) -> Row:
    """Return, for each content piece of the claim, its closest piece of the texts."""
    model = load_minilm()
    embedded = model.encode(
        [claim, *texts],
        output_value="token_embeddings",
        convert_to_numpy=False,
        show_progress_bar=False,
    )
    claim_pieces, *others = [
        _unit(np.asarray(item, dtype=np.float32)) for item in embedded
    ]
    ids = model.tokenizer(claim, truncation=True, max_length=256)["input_ids"]
    names = model.tokenizer.convert_ids_to_tokens(ids)[: len(claim_pieces)]
    kept = [
        index
        for index, name in enumerate(names)
        if 0 < index < len(names) - 1
        and re.search(r"\w", name)
        and not is_function_word(name)
    ]
    if not kept:
        return np.full(1, 0.5, dtype=np.float32)
    nearest = (claim_pieces[kept] @ np.vstack(others).T).max(axis=1)
    return np.asarray(np.clip(nearest, 0.05, 1.0), dtype=np.float32)


def _unit(pieces: Pieces) -> Pieces:
    lengths = np.maximum(np.linalg.norm(pieces, axis=1, keepdims=True), 1e-9)
    return np.asarray(pieces / lengths, dtype=np.float32)


def _cited(weights: Weights, sets: Sequence[frozenset[str]]) -> tuple[int, ...]:
    """Choose sentences greedily while each adds a fair share of the claim."""
    chosen: list[int] = []
    covered = 0.0
    said: frozenset[str] = frozenset()
    while len(chosen) < _MOST_CITED:
        gains = [_coverage(weights, said | words) - covered for words in sets]
        best = max(range(len(sets)), key=gains.__getitem__)
        if gains[best] < _LEAST_GAIN:
            break
        chosen.append(best)
        covered += gains[best]
        said |= sets[best]
    return tuple(sorted(chosen))
