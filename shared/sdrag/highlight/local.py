"""
The local highlighter: no model beyond the packaged MiniLM, and no call to anyone.

A sentence is judged by how well it meets the question, as measured by
`sdrag.highlight.token_overlap`. The weighted sum of the measures, through a softmax,
says how likely each sentence is. The best one is taken. A further one is taken only if
its likelihood pays for its length, so the highlights grow only where the ranking is in
doubt. A sentence next to the best one is likelier than its words say, since one of the
two may hold a pronoun where the other has the name.

Where the words of the question meet nothing like them, there is no answer; when no
sentence is left, the highlighter declines. Weights, price and floor were calibrated on
the development half of XQuAD; `python -m benchmarks.suites highlight` measures them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sdrag.effects.prompts import Labelled
from sdrag.effects.steps import Steps
from sdrag.highlight.embedded import Embedded, embedded
from sdrag.highlight.protocol import Context, Proposal
from sdrag.highlight.token_overlap import Question, overlap
from sdrag.text.spans import merge
from sdrag.vocabulary import SCORE_DIGITS, Confidential

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Local", "local"]

MAX_SENTENCES = 400


@dataclass(frozen=True, slots=True)
class Local:
    """
    A local highlighter.

    Args:
        floor: The least coverage of the question's words, a mean cosine; -1 never
            declines.
        price: How likely a further sentence must be if it is as long as those taken.
        neighbour: How much likelier a sentence is next to the best one.
        most: The most sentences.
        focus: The weight of what the focus of the question met,
        best: ... of how much of the question a sentence is the nearest of,
        least: ... of what the worst-met words met,
        following: ... of its cosine together with the sentence before,
        lexical: ... of the overlap of characters,
        number: ... and of giving a number that is asked for.
    """

    floor: float = 0.38
    price: float = 0.5
    neighbour: float = 0.08
    most: int = 3
    focus: float = 8.0
    best: float = 1.75
    least: float = 3.0
    following: float = 3.25
    lexical: float = 3.5
    number: float = 4.0

    def __call__(self, question: Labelled, context: Context) -> Steps[Proposal]:
        """Propose the sentences that answer the question, neighbours joined."""
        texts = tuple(passage.text for passage in context.passages)
        yield from ()
        return Proposal(self._extracts(question.text, texts))

    def _extracts(self, text: str, texts: tuple[str, ...]) -> tuple[str, ...]:
        question = Question.of(text)
        if not question.tokens:
            return ()
        candidates = [
            item
            for index, passage in enumerate(texts)
            for item in _covered(index, passage, question, self.floor)
        ]
        candidates = _most_overlapping(text, candidates)
        if not candidates:
            return ()
        chosen = self._choose(self._scores(question, candidates), candidates)
        return tuple(_joined(texts, chosen))

    def _scores(self, question: Question, candidates: Sequence[_Candidate]) -> Vector:
        met = np.stack([candidate.met for candidate in candidates])
        following = np.stack([candidate.sentence.following for candidate in candidates])
        said = [candidate.text for candidate in candidates]
        score: Vector = (
            self.focus * question.focus(met)
            + self.best * question.best(met)
            + self.least * question.least(met)
            + self.following * (following @ question.vector)
            + self.lexical * question.overlap(said)
            + self.number * question.number(said)
        )
        return score.round(SCORE_DIGITS)

    def _choose(
        self, scores: Vector, candidates: Sequence[_Candidate]
    ) -> list[_Candidate]:
        """Take the best, and what is likely enough for its length."""
        likely = np.exp(scores - scores.max())
        first = int(np.argmax(likely))
        for index in (first - 1, first + 1):
            if 0 <= index < len(candidates) and (
                candidates[index].passage == candidates[first].passage
            ):
                likely[index] = min(1.0, likely[index] + self.neighbour)
        taken = [candidates[first]]
        ranked = np.argsort(-likely, kind="stable")
        for index in [int(item) for item in ranked if item != first][: self.most - 1]:
            length = len(candidates[index].text)
            share = length / (length + sum(len(item.text) for item in taken))
            if likely[index] >= 2 * self.price * share:
                taken.append(candidates[index])
        return taken


local = Local()
"""The local highlighter as calibrated."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Candidate(Confidential):
    """
    A sentence that may answer.

    Args:
        passage: The place of its passage.
        sentence: Its vectors.
        text: Its words.
        met: For each token of the question, the cosine of the nearest token in it.
    """

    passage: int
    sentence: Embedded
    text: str
    met: Vector


def _covered(
    passage: int, text: str, question: Question, floor: float
) -> Iterator[_Candidate]:
    """Yield the sentences of a passage whose surroundings meet the question."""
    found = [
        _Candidate(
            passage,
            sentence,
            sentence.span.of(text),
            question.met_by(sentence.tokens),
        )
        for sentence in embedded(text)
        if len(sentence.tokens)
    ]
    groups = [
        list(members)
        for _, members in groupby(found, key=lambda item: item.sentence.group)
    ]
    for before, group, after in zip(
        [[], *groups], groups, [*groups[1:], []], strict=False
    ):
        if max(_coverage(before + group), _coverage(group + after)) >= floor:
            yield from group


def _coverage(candidates: Sequence[_Candidate]) -> float:
    """Say how near, on average, a word of the question comes to any word here."""
    met = np.stack([candidate.met for candidate in candidates])
    return float(met.max(axis=0).mean())


def _most_overlapping(question: str, candidates: list[_Candidate]) -> list[_Candidate]:
    """Keep the work bounded: of very many sentences, those that share words."""
    if len(candidates) <= MAX_SENTENCES:
        return candidates
    scores = overlap(question, [candidate.text for candidate in candidates])
    ranked = sorted(range(len(candidates)), key=lambda index: -scores[index])
    return [candidates[index] for index in sorted(ranked[:MAX_SENTENCES])]


def _joined(texts: Sequence[str], chosen: Sequence[_Candidate]) -> Iterator[str]:
    """Yield the chosen sentences, neighbours as one extract."""
    ordered = sorted(chosen, key=lambda item: (item.passage, item.sentence.span))
    for passage, group in groupby(ordered, key=lambda item: item.passage):
        text = texts[passage]
        for span in merge((item.sentence.span for item in group), text):
            yield span.of(text)
