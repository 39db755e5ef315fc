"""
Relevance: "most similar" does not mean "relevant" (section 3.5).

A floor under the score, on one scale whatever the store's; a cross-encoder, where one
was passed, that scores question and passage together; and a least number of
passages, under which the guard says that there is not enough to answer from. Scores
that are missing, or on no known scale, are measured here: the cosine of question and
passage. A score that cannot be had is doubt, and drops the passage. So question and
passages are sent to the cross-encoder, or to `embeddings=` where they are measured.

Scores of all stores are brought to one scale, on which 1 is the same and 0 unrelated.
Chroma and FAISS return squared L2 distances, others cosine distances or cosines, which
can be negative. Distances become the cosine that they mean between vectors of unit
length, where squared L2 = 2 - 2 cos. A cosine below 0 counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field

from sdrag.effects.steps import Failure, Outcome, Reply, Steps, embed, score
from sdrag.errors import SdragError
from sdrag.guardrails.notices import INSUFFICIENT, notice
from sdrag.guardrails.results import Retrieval, Screened, drop_all, drop_by_reason
from sdrag.sections import GuardSection, JudgedBy, Share
from sdrag.vocabulary import SCORE_DIGITS, Decision, Passage

RULE = "relevance"


class RelevanceSection(GuardSection):
    """When a passage is close enough to the question to be used."""

    min_score: Share = 0.25
    """The least similarity."""
    min_passages: Annotated[int, Field(ge=0)] = 1
    """With fewer relevant passages, none is returned."""
    scores: Literal[
        "auto",
        "similarity",
        "cosine_distance",
        "l2",
        "squared_l2",
        "measured",
    ] = "auto"
    """What the store's scores are. `auto` takes what can only be similarities and
    embeds the rest; `measured` always embeds."""
    rerank: bool = False
    """Score and order passages with the cross-encoder that you pass."""
    insufficient: Literal["empty", "notice"] = "empty"
    """Where too few are relevant: nothing, or a passage that says so."""

    @property
    def asks(self) -> JudgedBy:
        """How it judges."""
        return "nli" if self.rerank else "local"

    @property
    def measures(self) -> bool:
        """Whether it may have to embed passages to score them."""
        return not self.rerank and self.scores in {"auto", "measured"}


def at_retrieval(
    passages: Sequence[Passage], section: RelevanceSection, retrieval: Retrieval
) -> Steps[Screened]:
    """
    Drop what lies under the floor; nothing remains where too little does.

    Returns:
        With reranking, passages in the new order that carry their new score, from 0
        to 1; else order and scores are the host's. A decision with the subject
        `query` and the reason `insufficient` says that there is not enough, and so
        does a notice, where the policy wants one.
    """
    scored = yield from _score_each(passages, retrieval.query, section)
    ranked = [
        replace(item, score=value) if section.rerank else item for item, value in scored
    ]
    reasons = (
        "score-failed"
        if value is None
        else ("" if value >= section.min_score else "below-floor")
        for _, value in scored
    )
    near = drop_by_reason(ranked, reasons, RULE)
    if len(near.passages) >= section.min_passages:
        return near
    told = section.insufficient == "notice"
    notices = (notice("insufficient", INSUFFICIENT),) if told else ()
    refusal = Decision("query", "withheld", RULE, "insufficient")
    too_few = near.then(drop_all(near.passages, RULE, "insufficient"))
    return too_few.then(Screened((), (refusal,), notices))


def _score_each(
    passages: Sequence[Passage], query: str, section: RelevanceSection
) -> Steps[list[tuple[Passage, float | None]]]:
    """Pair each passage with its score from 0 to 1, or None where it has none."""
    if section.rerank:
        values = yield from _rerank(passages, query)
        pairs = list(zip(passages, values, strict=True))
        return sorted(pairs, key=lambda pair: pair[1] or 0.0, reverse=True)
    scores = [passage.score for passage in passages]
    scale = section.scores
    if scale == "auto":
        scale = "similarity" if looks_similar(scores) else "measured"
    if scale == "measured":
        values = yield from _measure(passages, query)
    else:
        values = [None if item is None else unit(item, scale) for item in scores]
    return list(zip(passages, values, strict=True))


def _rerank(passages: Sequence[Passage], query: str) -> Steps[list[float | None]]:
    try:
        answers = yield from score((query, passage.text) for passage in passages)
    except SdragError:
        return [None] * len(passages)
    return _probabilities(answers)


def _measure(passages: Sequence[Passage], query: str) -> Steps[list[float | None]]:
    if not passages:
        return []
    try:
        (asked,) = yield from embed([query], query=True)
        answers = yield from embed(passage.text for passage in passages)
    except SdragError:
        return [None] * len(passages)
    if isinstance(asked, Failure):
        return [None] * len(passages)
    return [
        None
        if isinstance(answer, Failure)
        else unit(round(float(asked.value @ answer.value), SCORE_DIGITS), "similarity")
        for answer in answers
    ]


def _probabilities(answers: Sequence[Outcome[float]]) -> list[float | None]:
    """
    Read a cross-encoder's answers: probabilities, unless one of them can be none.

    Then all are logits and go through a sigmoid: some alone would change the order.
    """
    values = [
        answer.value
        if isinstance(answer, Reply) and math.isfinite(answer.value)
        else None
        for answer in answers
    ]
    if all(value is None or 0.0 <= value <= 1.0 for value in values):
        return values
    bounded = (None if v is None else max(-60.0, min(60.0, v)) for v in values)
    return [None if v is None else 1.0 / (1.0 + math.exp(-v)) for v in bounded]


Scale = Literal["similarity", "cosine_distance", "l2", "squared_l2"]

SCALES: Mapping[Scale, Callable[[float], float]] = {
    "similarity": lambda score: score,
    "cosine_distance": lambda score: 1.0 - score,
    "l2": lambda score: 1.0 - score * score / 2.0,
    "squared_l2": lambda score: 1.0 - score / 2.0,
}


def unit(score: float, scale: Scale) -> float:
    """Bring a store's score to the scale from 0 to 1; what is no number is 0."""
    if not math.isfinite(score):
        return 0.0
    return min(1.0, max(0.0, SCALES[scale](score)))


def looks_similar(scores: Sequence[float | None]) -> bool:
    """
    Say whether scores, in the order the store ranked them, can only be similarities.

    All are there, from -1 to 1, and they fall; a distance rises. One score alone, or
    equal ones, may be either.
    """
    known = [score for score in scores if score is not None]
    if not known or len(known) < len(scores):
        return False
    if not all(-1.0 <= score <= 1.0 for score in known):
        return False
    falls = all(left >= right for left, right in pairwise(known))
    return falls and known[0] > known[-1]
