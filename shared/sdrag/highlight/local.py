"""
The local highlighter: no model beyond the packaged MiniLM, and no call to anyone.

Every token of the question and of a passage is embedded in its context; what a
sentence *met* is, for each token of the question, the cosine of its nearest token
(late interaction, as in ColBERT). Of this matrix three things are read: what the focus
of the question met, which is where the answer is; for how much of the question the
sentence is the best of all; and what the worst-met words met. The overlap of characters
is measured in addition.
Each is comparable between the sentences at hand and nowhere else. The *focus* is the
word that asks, with what follows it up to an auxiliary ("which river", "how many"). A
question in another language than English has no focus, and is judged by the rest.

The weighted sum of the measures, through a softmax, says how likely each sentence is.
The best one is taken. A further one is taken only if its likelihood pays for its
length, so the highlights grow only where the ranking is in doubt. A sentence next to
the best one is likelier than its words say, since one of the two may hold a pronoun
where the other has the name. Where the words of the question meet nothing like them,
there is no answer; when no sentence is left, the highlighter declines.

Weights, price and floor were calibrated on the development half of XQuAD;
`python -m benchmarks.suites highlight` measures them.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby

import numpy as np

from sdrag.effects.prompts import Labelled
from sdrag.effects.steps import Steps
from sdrag.embeddings import embed_tokens
from sdrag.highlight.exchange import Context
from sdrag.memo import Memo
from sdrag.text.sentences import sentences
from sdrag.text.spans import merge
from sdrag.vocabulary import SCORE_DIGITS, Confidential, Span

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]


_FLOOR = 0.38
"""The least coverage of the question's words, a mean cosine."""
_PRICE = 0.5
"""How likely a further sentence must be if it is as long as those taken."""
_NEIGHBOUR = 0.08
"""How much likelier a sentence is next to the best one."""
_MOST = 3
_FOCUS_WEIGHT = 8.0
_BEST_WEIGHT = 1.75
_LEAST_WEIGHT = 3.0
_OVERLAP_WEIGHT = 3.5

_GROUP = 1_000
"""Characters that are embedded together: about the model's 256 tokens."""
_ASKING_WORDS = "who whom whose what which when where why how"
_AUXILIARY_WORDS = """
is are was were did do does has have had can could will would should may might been
being
"""
_COMMON_WORDS = """
a an the of in on at to for from by with and or but as is are was were be been being do
does did has have had it its this that these those he she they him his her their we you
i our your not no nor if than then so such can could will would shall should may might
must what which who whom whose when where why how many much long far often into over
under about between during after before also there here out up down more most some any
each other only own same s t
"""
_ASKING = frozenset(_ASKING_WORDS.split())
_AUXILIARIES = frozenset(_AUXILIARY_WORDS.split())
_STOP_WORDS = frozenset(_COMMON_WORDS.split())
_LONGEST_FOCUS = 5
_WORD = re.compile(r"\w+")
_RUN = 4
_LEAST_SHARE = 3
"""The worst-met third of a question's words."""


def local(question: Labelled, context: Context) -> Steps[Sequence[str]]:
    """Propose the sentences that answer the question, neighbours joined."""
    yield from ()
    texts = [passage.text for passage in context.passages]
    return list(_extracts(question.text, texts))


def _extracts(text: str, texts: Sequence[str]) -> Iterator[str]:
    question = _Question.of(text)
    if not question.tokens:
        return
    candidates = [
        candidate
        for index, passage in enumerate(texts)
        for candidate in _find_covered(index, passage, question)
    ]
    if not candidates:
        return
    chosen = _choose(_score(question, candidates), candidates)
    ordered = sorted(chosen, key=lambda item: (item.passage, item.sentence.span))
    for index, group in groupby(ordered, key=lambda item: item.passage):
        for span in merge((item.sentence.span for item in group), texts[index]):
            yield span.of(texts[index])


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Sentence(Confidential):
    span: Span
    group: int
    tokens: Matrix


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Candidate(Confidential):
    """
    A sentence that may answer.

    Args:
        met: For each token of the question, the cosine of the nearest token in it.
    """

    passage: int
    sentence: _Sentence
    text: str
    met: Vector


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Question(Confidential):
    text: str
    words: Matrix
    tokens: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> _Question:
        ((words, places),) = embed_tokens([text])
        tokens = tuple(index.of(text).lower() for index in places)
        return cls(text, words, tokens)

    def met_by(self, tokens: Matrix) -> Vector:
        """Give for each token of the question the cosine of the nearest of others."""
        nearest: Vector = (self.words @ tokens.T).max(axis=1)
        return nearest.round(SCORE_DIGITS)


def _score(question: _Question, candidates: Sequence[_Candidate]) -> Vector:
    met = np.stack([candidate.met for candidate in candidates])
    telling = [
        at
        for at, token in enumerate(question.tokens)
        if token.isalnum() and token not in _STOP_WORDS
    ]
    overlaps = overlap(question.text, [candidate.text for candidate in candidates])
    score: Vector = (
        _FOCUS_WEIGHT * _mean(met, focus(question.tokens))
        + _BEST_WEIGHT * _mean(met == met.max(axis=0), telling)  # where it is nearest
        + _LEAST_WEIGHT * _least(met, telling)
        + _OVERLAP_WEIGHT * np.asarray(overlaps, dtype=np.float32)
    )
    return score.round(SCORE_DIGITS)


def focus(tokens: Sequence[str]) -> list[int]:
    """Say which tokens of a question, in lower case, ask for the answer."""
    first = next((at for at, token in enumerate(tokens) if token in _ASKING), None)
    if first is None:
        return []
    places = [first]
    for at in range(first + 1, min(first + _LONGEST_FOCUS, len(tokens))):
        if tokens[at] in _AUXILIARIES or not tokens[at].isalnum():
            break
        places.append(at)
    return places


def _least(met: Matrix, telling: Sequence[int]) -> Vector:
    """Say how near each sentence comes to the words that it meets worst."""
    columns = telling or range(met.shape[1])
    worst = np.sort(met[:, columns], axis=1)
    return _mean(worst, range(max(1, len(telling) // _LEAST_SHARE)))


def _mean(met: Matrix, columns: Sequence[int]) -> Vector:
    """Give the mean of some columns, 0 of none."""
    if not columns:
        return np.zeros(len(met), dtype=np.float32)
    mean: Vector = met[:, columns].mean(axis=1)
    return mean


def overlap(question: str, texts: Sequence[str]) -> list[float]:
    """
    Give for each text the share of the question's runs of four characters in it.

    Words are compared by runs, so that endings need no rules. A run that every text
    holds tells none of them apart, so runs are weighted by their inverse document
    frequency. The commonest English words are left out of the question.
    """
    words = [w for w in _WORD.findall(question.lower()) if w not in _STOP_WORDS]
    asked = _runs(" ".join(words))
    shared = [asked & _runs(text.lower()) for text in texts]
    weights = {
        run: math.log((len(shared) + 1) / (sum(run in runs for runs in shared) + 0.5))
        for run in asked
    }
    total = sum(weights.values()) or 1.0
    return [sum(weights[run] for run in sorted(runs)) / total for runs in shared]


def _runs(text: str) -> frozenset[str]:
    return frozenset(text[at : at + _RUN] for at in range(len(text) - _RUN + 1))


def _choose(scores: Vector, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Take the best, and what is likely enough for its length."""
    likely = np.exp(scores - scores.max())
    first = int(np.argmax(likely))
    for index in (first - 1, first + 1):
        if 0 <= index < len(candidates) and (
            candidates[index].passage == candidates[first].passage
        ):
            likely[index] = min(1.0, likely[index] + _NEIGHBOUR)
    taken = [candidates[first]]
    ranked = np.argsort(-likely, kind="stable")
    for index in [int(item) for item in ranked if item != first][: _MOST - 1]:
        length = len(candidates[index].text)
        share = length / (length + sum(len(item.text) for item in taken))
        if likely[index] >= 2 * _PRICE * share:
            taken.append(candidates[index])
    return taken


def _find_covered(index: int, text: str, question: _Question) -> Iterator[_Candidate]:
    """Yield the sentences of a passage whose surroundings meet the question."""
    candidates = [
        _Candidate(
            index, sentence, sentence.span.of(text), question.met_by(sentence.tokens)
        )
        for sentence in _recall(text)
        if len(sentence.tokens)
    ]
    groups = [
        list(members)
        for _, members in groupby(candidates, key=lambda item: item.sentence.group)
    ]
    for before, group, after in zip(
        [[], *groups], groups, [*groups[1:], []], strict=False
    ):
        if max(_coverage(before + group), _coverage(group + after)) >= _FLOOR:
            yield from group


def _coverage(candidates: Sequence[_Candidate]) -> float:
    """Say how near, on average, a word of the question comes to any word here."""
    met = np.stack([candidate.met for candidate in candidates])
    return float(met.max(axis=0).mean())


# The same passages are retrieved again and again. What is remembered are vectors and
# offsets under a keyed digest of the text, never the text.
_key = secrets.token_bytes(32)
_memo: Memo[bytes, tuple[_Sentence, ...]] = Memo(2_048)


def _recall(text: str) -> tuple[_Sentence, ...]:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), key=_key).digest()
    known = _memo.get(digest)
    if known is None:
        known = tuple(_embed(text))
        _memo.put(digest, known)
    return known


def _embed(text: str) -> Iterator[_Sentence]:
    spans = sentences(text)
    groups = list(_groups(spans))
    reaches = [Span(group[0].start, group[-1].end) for group in groups]
    tokens = embed_tokens([reach.of(text) for reach in reaches])
    for number, group in enumerate(groups):
        rows, places = tokens[number]
        starts = [place.start + reaches[number].start for place in places]
        for span in group:
            inside = [
                row for row, at in enumerate(starts) if span.start <= at < span.end
            ]
            yield _Sentence(span, number, rows[inside])


def _groups(spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Yield runs of sentences that are embedded together."""
    group: list[Span] = []
    for span in spans:
        if group and span.end - group[0].start > _GROUP:
            yield group
            group = []
        group.append(span)
    if group:
        yield group
