"""
The local highlighter: no model beyond the packaged MiniLM, and no call to anyone.

A sentence is judged by four measures of how well it meets the question: *late
interaction* (each word of the question looks for its nearest word in the sentence, both
embedded in their context; a word that tells sentences apart counts for more), the
cosine of the two, the cosine with the sentence before it read along, and the overlap of
telling words. Their weighted sum, through a softmax, says how likely each sentence is.

The best one is taken; a further one only if its likelihood pays for its length, so the
highlights grow where the ranking is in doubt and nowhere else. Where the words of the
question meet nothing like them, there is no answer; when no sentence is left, the
highlighter declines. Weights, price and floor were calibrated on the development half
of XQuAD; `sdrag eval highlight` measures them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from sdrag.highlight.embedded import Embedded, embedded
from sdrag.highlight.lexical import overlap
from sdrag.highlight.protocol import Context, Proposal
from sdrag.minilm import embed_texts, embed_tokens
from sdrag.prompts import Labelled
from sdrag.spans import merge
from sdrag.steps import Steps, compute, replied
from sdrag.vocabulary import Confidential

if TYPE_CHECKING:
    import numpy as np

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
        most: The most sentences.
        late: The weight of late interaction,
        cosine: ... of the sentence's own cosine,
        following: ... of its cosine together with the sentence before,
        lexical: ... and of the overlap of telling words.
    """

    floor: float = 0.38
    price: float = 0.51
    most: int = 3
    late: float = 6.0
    cosine: float = 1.5
    following: float = 2.5
    lexical: float = 2.0

    def __call__(self, question: Labelled, context: Context) -> Steps[Proposal]:
        """Propose the sentences that answer the question, neighbours joined."""
        texts = tuple(passage.text for passage in context.passages)
        (outcome,) = yield from compute(self._extracts, [(question.text, texts)])
        return Proposal(replied(outcome))

    def _extracts(self, asked: tuple[str, tuple[str, ...]]) -> tuple[str, ...]:
        question, texts = asked
        if not question.strip():
            return ()
        words = embed_tokens([question])[0][0]
        candidates = [
            one
            for index, text in enumerate(texts)
            for one in _covered(index, text, words, self.floor)
        ]
        candidates = _most_overlapping(question, candidates)
        if not candidates:
            return ()
        chosen = self._choose(self._scores(question, candidates), candidates)
        return tuple(_joined(texts, chosen))

    def _scores(self, question: str, candidates: Sequence[_Candidate]) -> Vector:
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

        asked = embed_texts([question])[0]
        lexical = overlap(question, [one.text for one in candidates])
        score: Vector = (
            self.late * _late(np.stack([one.met for one in candidates]))
            + self.cosine * np.array([one.sentence.alone @ asked for one in candidates])
            + self.following
            * np.array([one.sentence.following @ asked for one in candidates])
            + self.lexical * np.asarray(lexical, dtype=np.float32)
        )
        return score

    def _choose(
        self, scores: Vector, candidates: Sequence[_Candidate]
    ) -> list[_Candidate]:
        """Take the best, and what is likely enough for its length."""
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

        likely = np.exp(scores - scores.max())
        ranked = [int(index) for index in np.argsort(-likely, kind="stable")]
        taken = [candidates[ranked[0]]]
        for index in ranked[1 : self.most]:
            length = len(candidates[index].text)
            share = length / (length + sum(len(one.text) for one in taken))
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
    passage: int, text: str, words: Matrix, floor: float
) -> Iterator[_Candidate]:
    """Yield the sentences of a passage whose surroundings meet the question."""
    found = [
        _Candidate(
            passage,
            sentence,
            sentence.span.of(text),
            (words @ sentence.tokens.T).max(axis=1),
        )
        for sentence in embedded(text)
        if len(sentence.tokens)
    ]
    groups = [
        list(group) for _, group in groupby(found, key=lambda one: one.sentence.group)
    ]
    for before, own, after in zip(
        [[], *groups], groups, [*groups[1:], []], strict=False
    ):
        if max(_coverage(before + own), _coverage(own + after)) >= floor:
            yield from own


def _coverage(candidates: Sequence[_Candidate]) -> float:
    """Say how near, on average, a word of the question comes to any word here."""
    import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

    met = np.stack([one.met for one in candidates])
    return float(met.max(axis=0).mean())


def _late(met: Matrix) -> Vector:
    """
    Weigh what each sentence met by how far the sentences differ in it.

    Args:
        met: A (sentences, question tokens) matrix of cosines.
    """
    import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

    weights = np.sqrt(met.max(axis=0) - met.mean(axis=0) + 1e-6)
    score: Vector = (met * weights).sum(axis=1) / weights.sum()
    return score


def _most_overlapping(question: str, candidates: list[_Candidate]) -> list[_Candidate]:
    """Keep the work bounded: of very many sentences, those that share words."""
    if len(candidates) <= MAX_SENTENCES:
        return candidates
    scores = overlap(question, [one.text for one in candidates])
    ranked = sorted(range(len(candidates)), key=lambda index: -scores[index])
    return [candidates[index] for index in sorted(ranked[:MAX_SENTENCES])]


def _joined(texts: Sequence[str], chosen: Sequence[_Candidate]) -> Iterator[str]:
    """Yield the chosen sentences, neighbours as one extract."""
    ordered = sorted(chosen, key=lambda one: (one.passage, one.sentence.span))
    for passage, group in groupby(ordered, key=lambda one: one.passage):
        text = texts[passage]
        for span in merge((one.sentence.span for one in group), text):
            yield span.of(text)
