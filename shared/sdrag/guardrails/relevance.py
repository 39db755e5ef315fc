"""
Relevance: "most similar" does not mean "relevant" (section 3.5).

A floor under the score, on one scale whatever the store's; a cross-encoder, where one
was handed in, that scores question and passage together; and a least number of
passages, under which the guard says that there is not enough to answer from. Scores
that are missing, or on no known scale, are measured here: the cosine of question and
passage. A score that cannot be had is doubt, and drops the passage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sdrag.engine.steps import Failure, Outcome, Reply, Steps, embed, score
from sdrag.errors import SdragError
from sdrag.guardrails import notices
from sdrag.guardrails.scale import Scale, looks_similar, unit
from sdrag.guardrails.screened import Screened
from sdrag.policy import RelevanceSection
from sdrag.vocabulary import Decision, Passage

__all__ = ["notice", "screen"]

RULE = "relevance"


def screen(
    passages: Sequence[Passage], query: str, section: RelevanceSection | None
) -> Steps[Screened]:
    """
    Drop what lies under the floor; nothing remains where too little does.

    Args:
        passages: In the store's order.
        query: The question.
        section: None: nothing is looked at.

    Returns:
        With reranking, passages in the new order that carry their new score, from 0
        to 1; else order and scores are the host's. A decision with the subject
        `query` and the reason `insufficient` says that there is not enough.
    """
    if section is None:
        return Screened(tuple(passages))
    scored = yield from _scored(passages, query, section)
    kept: list[Passage] = []
    decisions: list[Decision] = []
    for passage, value in scored:
        if value is not None and value >= section.min_score:
            kept.append(replace(passage, score=value) if section.rerank else passage)
            continue
        reason = "score-failed" if value is None else "below-floor"
        decisions.append(Decision(passage.id, "dropped", RULE, reason))
    if len(kept) < section.min_passages:
        decisions += [Decision(one.id, "dropped", RULE, "insufficient") for one in kept]
        decisions.append(Decision("query", "withheld", RULE, "insufficient"))
        kept = []
    return Screened(tuple(kept), tuple(decisions))


def notice(section: RelevanceSection, screened: Screened) -> Passage | None:
    """
    Return the passage that tells the host's chain that there is not enough.

    Args:
        section: Says whether the host wants one.
        screened: What `screen` returned.
    """
    short = any(one.reason == "insufficient" for one in screened.decisions)
    if section.insufficient == "empty" or not short:
        return None
    return notices.notice("insufficient", notices.INSUFFICIENT)


def _scored(
    passages: Sequence[Passage], query: str, section: RelevanceSection
) -> Steps[list[tuple[Passage, float | None]]]:
    """Pair each passage with its score from 0 to 1, or None where it has none."""
    if section.rerank:
        values = yield from _reranked(passages, query)
        pairs = list(zip(passages, values, strict=True))
        return sorted(pairs, key=lambda pair: pair[1] or 0.0, reverse=True)
    own = [passage.score for passage in passages]
    scale = _scale(own, section)
    if scale is None:
        values = yield from _measured(passages, query)
    else:
        values = [None if one is None else unit(one, scale) for one in own]
    return list(zip(passages, values, strict=True))


def _scale(scores: Sequence[float | None], section: RelevanceSection) -> Scale | None:
    """Return the scale of the store's scores; None where they must be measured."""
    if section.scores == "measured":
        return None
    if section.scores != "auto":
        return section.scores
    return "similarity" if looks_similar(scores) else None


def _reranked(passages: Sequence[Passage], query: str) -> Steps[list[float | None]]:
    try:
        answers = yield from score((query, passage.text) for passage in passages)
    except SdragError:
        return [None] * len(passages)
    return _probabilities(answers)


def _measured(passages: Sequence[Passage], query: str) -> Steps[list[float | None]]:
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
        else unit(float(asked.value @ answer.value), "cosine")
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
    return [None if value is None else _sigmoid(value) for value in values]


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))
