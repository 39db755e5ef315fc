"""
The local scorer: how far evidence supports a claim.

Two questions are asked. Is the evidence about the same things? Two measurements, each
over the claim's content words: the share, weighted by rarity, that is in one
neighbourhood of three sentences; and how close each word piece of the claim is to the
closest piece of the best sentences, in MiniLM's contextual embeddings (BERTScore
recall, Zhang et al. 2020, section 3). The weights are hand-set.

And does everything that makes the claim true or false stand there, and the same way?
Similarity passes *200 mg* for *20 mg*, so each such part is compared by a rule of its
own. Where one is missing, or conflicts, the score stays below a half, however similar
the texts are; it is scaled, so that claims keep their order. Who did what to whom is a
question for an NLI model.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sdrag.embeddings import embed_tokens
from sdrag.guardrails.statements.facts import (
    bounds_differ,
    figures_differ,
    missing_facts,
    names_differ,
)
from sdrag.guardrails.statements.polarity import polarity_differs
from sdrag.guardrails.statements.quantities import read_quantities
from sdrag.guardrails.statements.words import (
    TokenText,
    content_words,
    is_function_word,
    read_sentences,
    read_tokens,
)
from sdrag.text import word_set
from sdrag.text.sentences import sentences
from sdrag.text.sentences import words as word_spans
from sdrag.vocabulary import SCORE_DIGITS, Span

if TYPE_CHECKING:
    Row = np.ndarray[tuple[int], np.dtype[np.float32]]
    Pieces = np.ndarray[tuple[int, int], np.dtype[np.float32]]

Weights = Mapping[str, float]
"""The content words of a claim, with weights that sum to 1."""
_CANDIDATES = 6
_LONGEST = 800
_MOST_CITED = 4
_LEAST_GAIN = 0.12
_SLOPE, _MIDDLE = 3.0, 2.0
_MISSING, _CONFLICT = 0.25, 0.49
"""What is left of the score of a claim that the evidence lacks a part of, or denies."""


@dataclass(frozen=True, slots=True)
class Support:
    """
    How far a claim is supported.

    Args:
        score: From 0 to 1.
        sentences: The places of the sentences that support it best, ascending.
        novelty: How far, from 0 to 1, the furthest of the words that the evidence lacks
            is from its closest piece of it; 0 where none is lacking.
        faults: The rules of `agreement` that the claim fails, and `missing`.
    """

    score: float
    sentences: tuple[int, ...]
    novelty: float = 0.0
    faults: tuple[str, ...] = ()


class Spoken(NamedTuple):
    """A claim's content pieces, embedded, and the word that each is a piece of."""

    pieces: Pieces
    words: tuple[str, ...]


def support(claim: str, evidence: Sequence[str]) -> Support:
    """Score a claim against the sentences of the evidence."""
    return support_each([claim], evidence)[0]


def support_each(claims: Sequence[str], evidence: Sequence[str]) -> list[Support]:
    """Score claims against the same sentences; each is embedded once at most."""
    sets = [frozenset(content_words(sentence)) for sentence in evidence]
    weights = [_weigh(claim, sets) for claim in claims]
    near = [_nearest(weighed, sets) if weighed else [] for weighed in weights]
    spoken, known = _embed(claims, evidence, near)
    read = read_sentences(evidence)
    return [
        _score(
            claim,
            weighed,
            sets,
            spoken[claim],
            _closeness(spoken[claim].pieces, [known[at] for at in places]),
            evidence=read,
        )
        if weighed and evidence
        else Support(0.0, ())
        for claim, weighed, places in zip(claims, weights, near, strict=True)
    ]


def _score(
    claim: str,
    weights: Weights,
    sets: Sequence[frozenset[str]],
    spoken: Spoken,
    closeness: Row,
    *,
    evidence: Sequence[TokenText],
) -> Support:
    tokens = read_tokens(span.of(claim) for span in sentences(claim))
    value = max(
        _coverage(weights, frozenset().union(*sets[max(0, at - 1) : at + 2]))
        for at in range(len(sets))
    )
    value += 3.0 * closeness.mean() + 0.05 * np.log(closeness).sum()
    score = 1.0 / (1.0 + math.exp(-_SLOPE * (float(value) - _MIDDLE)))
    cited = _choose_cited(weights, sets)
    agreement = compare(tokens, cited, evidence)
    if agreement.missing:
        score *= _MISSING
    elif agreement.conflicts:
        score *= _CONFLICT
    novelty = _novelty(spoken.words, closeness, frozenset().union(*sets))
    return Support(
        round(score, SCORE_DIGITS),
        cited,
        round(novelty, SCORE_DIGITS),
        ("missing",) if agreement.missing else agreement.conflicts,
    )


def _novelty(spoken: Sequence[str], closeness: Row, known: frozenset[str]) -> float:
    """Return how far the furthest word is that is not known."""
    return max(
        (
            1.0 - float(close)
            for word, close in zip(spoken, closeness, strict=False)
            if not known.issuperset(content_words(word))
        ),
        default=0.0,
    )


def _weigh(claim: str, sets: Sequence[frozenset[str]]) -> Weights:
    """Weigh a claim's words by how rare they are in the evidence."""
    counts = Counter(word for words in sets for word in words)
    rarity = {
        word: math.log(1.0 + (len(sets) + 1.0) / (1.0 + counts[word]))
        for word in content_words(claim)
    }
    whole = sum(rarity.values())
    return {word: weight / whole for word, weight in rarity.items()}


def _nearest(weights: Weights, sets: Sequence[frozenset[str]]) -> list[int]:
    """Return the places of the sentences to compare with."""
    covers = [_coverage(weights, words) for words in sets]
    best = sorted(range(len(sets)), key=covers.__getitem__, reverse=True)
    return best[:_CANDIDATES]


def _coverage(weights: Weights, words: frozenset[str]) -> float:
    return sum(weight for word, weight in weights.items() if word in words)


def _embed(
    claims: Sequence[str], evidence: Sequence[str], near: Sequence[Sequence[int]]
) -> tuple[dict[str, Spoken], dict[int, Pieces]]:
    """Embed the content pieces of the claims, and all of the sentences near them."""
    places = sorted({at for group in near for at in group})
    texts = [*dict.fromkeys(claims), *(evidence[at] for at in places)]
    read = embed_tokens([text[:_LONGEST] for text in texts])
    count = len(texts) - len(places)
    spoken = {}
    for text, (rows, spans) in zip(texts[:count], read[:count], strict=True):
        carry = [at for at, span in enumerate(spans) if _carries(span.of(text))]
        whole = word_spans(text[:_LONGEST])
        words = tuple(_word_at(text, spans[at], whole) for at in carry)
        spoken[text] = Spoken(rows[carry], words)
    rows_of = (rows for rows, _ in read[count:])
    return spoken, dict(zip(places, rows_of, strict=True))


def _word_at(text: str, piece: Span, words: Sequence[Span]) -> str:
    at = bisect_right(words, piece.start, key=lambda word: word.end)
    return (words[at] if at < len(words) else piece).of(text)


def _carries(piece: str) -> bool:
    return re.search(r"\w", piece) is not None and not is_function_word(piece.lower())


def _closeness(claim: Pieces, others: Sequence[Pieces]) -> Row:
    """Return, for each content piece of the claim, its closest piece of the others."""
    if not len(claim) or not others:
        return np.full(1, 0.5, dtype=np.float32)
    nearest = (claim @ np.vstack(others).T).max(axis=1)
    return np.asarray(np.clip(nearest, 0.05, 1.0), dtype=np.float32)


def _choose_cited(weights: Weights, sets: Sequence[frozenset[str]]) -> tuple[int, ...]:
    """Choose sentences greedily while each adds a fair share of the claim."""
    chosen: list[int] = []
    covered = 0.0
    words: frozenset[str] = frozenset()
    wholes = [_coverage(weights, words) for words in sets]
    while len(chosen) < _MOST_CITED:
        gains = [_coverage(weights, words | other) - covered for other in sets]
        best = max(range(len(sets)), key=lambda at: (gains[at], wholes[at]))
        if gains[best] < _LEAST_GAIN:
            break
        chosen.append(best)
        covered += gains[best]
        words |= sets[best]
    return tuple(sorted(chosen))


_MOST_ADDED = 3
_UNIVERSAL = word_set(
    "all every each everyone everybody everything always entirely completely both"
    " invariably whenever wholly"
)
_COMPARATIVES = word_set(
    "than least better best worse worst older oldest younger youngest longer longest"
    " shorter shortest larger largest bigger biggest smaller smallest higher highest"
    " lower lowest earlier earliest later latest greater greatest richer richest poorer"
    " poorest taller tallest heavier heaviest lighter lightest faster fastest slower"
    " slowest exceed exceeds exceeded exceeding"
)
_COMPARED = 2
"""So many figures of the evidence can be compared."""
_TIMES = word_set("day week month year hour minute night morning evening quarter time")


class Agreement(NamedTuple):
    """
    Whether a claim says what its evidence says.

    Args:
        missing: Figures and names of the claim that are nowhere in the evidence.
        conflicts: The rules that the claim fails; none where something is missing.
    """

    missing: int
    conflicts: tuple[str, ...] = ()


def compare(
    claim: TokenText, cited: Sequence[int], evidence: Sequence[TokenText]
) -> Agreement:
    """
    Compare a claim with the sentences that it rests on.

    `cited`: places of those that have most of its words; what they lack is looked for
    in the other sentences of the evidence.
    """
    places, missing = _rest_on(claim, cited, evidence)
    if missing:
        return Agreement(missing)
    known = _join(places, evidence)
    return Agreement(
        0, tuple(name for name, differs in _RULES.items() if differs(claim, known))
    )


def _join(places: Iterable[int], evidence: Sequence[TokenText]) -> TokenText:
    return tuple(token for at in sorted(places) for token in evidence[at])


def _rest_on(
    claim: TokenText, cited: Sequence[int], evidence: Sequence[TokenText]
) -> tuple[list[int], int]:
    """Add the sentences that hold what the cited ones lack; say how much none holds."""
    lacking = missing_facts(claim, _join(cited, evidence))
    chosen = list(cited)
    if not lacking:
        return chosen, 0
    facts = {
        at: lacking - missing_facts(claim, tokens)
        for at, tokens in enumerate(evidence)
        if at not in chosen
    }

    def gain(at: int) -> tuple[int, int]:
        return len(facts[at] & lacking), -min((abs(at - to) for to in cited), default=0)

    while lacking and facts and len(chosen) < len(cited) + _MOST_ADDED:
        sentence = max(facts, key=gain)
        if not facts[sentence] & lacking:
            break
        lacking -= facts.pop(sentence)
        chosen.append(sentence)
    return chosen, len(lacking)


def quantifiers_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether the claim is about all of something, and the evidence is not."""
    known = {token.text for token in evidence}
    return _has_universal(claim) and known.isdisjoint(_UNIVERSAL | {"any"})


def comparisons_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether the claim compares what the evidence neither compares nor counts."""
    return (
        _compares(claim)
        and not _compares(evidence)
        and len(read_quantities(evidence)) < _COMPARED
    )


def _compares(tokens: TokenText) -> bool:
    """Look for *later* and *than*, and for *more* that counts nothing after it."""
    ends = (*(not token.text[:1].isalnum() for token in tokens[1:]), True)
    return any(
        token.text in _COMPARATIVES or (token.text in {"more", "less"} and ends)
        for token, ends in zip(tokens, ends, strict=False)
    )


def _has_universal(tokens: TokenText) -> bool:
    """Look for *all* and the like; *each day*, *after all* and *both 3* are none."""
    padded = ["", *(token.text for token in tokens), ""]
    return any(
        word in _UNIVERSAL
        and not (word in {"every", "each"} and after in _TIMES)
        and not (word == "all" and before in {"at", "after", "of", "above"})
        and not (word == "both" and after.isdigit())
        for before, word, after in zip(padded, padded[1:], padded[2:], strict=False)
    )


_RULES: dict[str, Callable[[TokenText, TokenText], bool]] = {
    "figures": figures_differ,
    "bounds": bounds_differ,
    "names": names_differ,
    "polarity": polarity_differs,
    "quantifiers": quantifiers_differ,
    "comparisons": comparisons_differ,
}
