"""
Contradictions: sources that disagree are never silently chosen between.

"The model must have a strategy for handling the contradiction" (section 3.5).

Sentences of different passages are compared where they are about the same; local rules
judge, or a model that was passed. The strategies are the source's five: present
both sides, prefer the more authoritative, prefer the newer, refuse where the topic is
critical (an audit sink can escalate it), flag for review. A preference that cannot
be decided, since a date or a rank is missing or equal, presents both.

The number of sentences read, and of pairs that a model is asked about, is bounded. A
judgment that could not be had, for that reason or another, is reported as `unchecked`,
and refuses where a contradiction would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

from sdrag.effects.steps import Steps
from sdrag.guardrails.answer_work import AnswerWork, Conflict, Guarded
from sdrag.guardrails.contradictions import ContradictionsSection
from sdrag.guardrails.contradictions.opposition import (
    SentenceFacts,
    find_opposition,
    read_sentence,
    share_subject,
)
from sdrag.guardrails.notices import disagreement, notice
from sdrag.guardrails.results import Screened, add_evidence, drop_all, evidence
from sdrag.guardrails.staleness import instant
from sdrag.guardrails.statements.judging import ask
from sdrag.text.nested import items_of
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Decision, Passage

RULE = "contradictions"
_MOST_SENTENCES = 300
_MOST_JUDGED = 100
_WORTH_JUDGING = 0.35

Metadata = Mapping[str, Any]
"""Of a passage, as the host stored it."""
Places = tuple[int, int]
SentencePair = tuple[Places, SentenceFacts, SentenceFacts]
"""Two sentences, and the places of the texts they are from."""


def at_release(
    passages: Sequence[Passage],
    section: ContradictionsSection,
    metadata: Sequence[Metadata],
) -> Steps[Screened]:
    """
    Find the contradictions among what is released, and apply the policy's strategy.

    Returns:
        The passages that disagree name each other, by id, under `contradicts`; those
        about a critical topic say so, for the guard after the answer. A notice tells
        the prompt or the reader which sources disagree, by their numbers.
    """
    stamped = [
        add_evidence(passage, {"critical": True})
        if is_on_critical_topic(held, section)
        else passage
        for passage, held in zip(passages, metadata, strict=True)
    ]
    texts = [passage.text for passage in passages]
    pairs = list(combinations(range(len(texts)), 2))
    conflicts = (yield from _compare(texts, texts, pairs, section)) if pairs else ()
    return _settle(stamped, metadata, conflicts, section)


def at_answer(
    work: AnswerWork, section: ContradictionsSection
) -> Steps[Guarded | None]:
    """Mark the claims that a passage contradicts, or decline."""
    if not work.claims or not work.draft.passages:
        return None
    texts = [claim.text for claim in work.claims]
    conflicts = yield from find_contradicted(texts, work.draft.passages, section)
    work.conflicts = conflicts
    for conflict in conflicts:
        work.note(RULE, conflict.reason)
        sure = conflict.reason != "unchecked"
        mark = "contradicted by a source" if sure else "unchecked"
        work.annotations.setdefault(conflict.right, mark)
    passages = [work.draft.passages[conflict.left] for conflict in conflicts]
    reason = _why_declined(passages, section)
    return work.decline(RULE, reason) if reason else None


def find_contradicted(
    claims: Sequence[str], passages: Sequence[Passage], section: ContradictionsSection
) -> Steps[tuple[Conflict, ...]]:
    """Find the claims of an answer (`right`) that a passage (`left`) contradicts."""
    pairs = list(product(range(len(passages)), range(len(claims))))
    texts = [passage.text for passage in passages]
    return (yield from _compare(texts, claims, pairs, section))


def _settle(
    passages: Sequence[Passage],
    metadata: Sequence[Metadata],
    conflicts: tuple[Conflict, ...],
    section: ContradictionsSection,
) -> Screened:
    touched = sorted({at for pair in conflicts for at in (pair.left, pair.right)})
    if refusal := _why_declined([passages[at] for at in touched], section):
        declined = Screened((), (Decision("query", "withheld", RULE, refusal),))
        return declined.then(drop_all([passages[at] for at in touched], RULE, refusal))
    losers = {find_loser(metadata, pair, section) for pair in conflicts} - {None}
    unsettled = [pair for pair in conflicts if not {pair.left, pair.right} & losers]
    reason = "review" if section.strategy == "review" else "contradicted"
    decisions = tuple(
        Decision(
            passages[at].id, "dropped" if at in losers else "flagged", RULE, reason
        )
        for at in touched
    )
    opposed: dict[int, set[int]] = {
        at: set() for at in range(len(passages)) if at not in losers
    }
    for pair in unsettled:
        opposed[pair.left].add(pair.right)
        opposed[pair.right].add(pair.left)
    kept = tuple(
        add_evidence(passages[at], {"contradicts": [passages[to].id for to in others]})
        if (others := sorted(opposed[at]))
        else passages[at]
        for at in opposed
    )
    words = _words(unsettled, list(opposed)) if section.notice else ""
    notices = (notice("contradictions", words),) if words else ()
    return Screened(kept, decisions, notices)


def _why_declined(
    contradicted: Sequence[Passage], section: ContradictionsSection
) -> str:
    """Return why nothing is answered from passages that are contradicted, if so."""
    if any(_is_critical(passage, section) for passage in contradicted):
        return "critical"
    return "contradicted" if contradicted and section.strategy == "decline" else ""


def find_loser(
    metadata: Sequence[Metadata], conflict: Conflict, section: ContradictionsSection
) -> int | None:
    """Return the place of the passage that gives way, if one does."""
    if conflict.reason == "unchecked":
        return None
    left, right = (
        _rank(metadata[index], section) for index in (conflict.left, conflict.right)
    )
    if left is None or right is None or left == right:
        return None
    return conflict.left if left < right else conflict.right


def _rank(metadata: Metadata, section: ContradictionsSection) -> float | None:
    if section.strategy == "authoritative":
        value = metadata.get(section.authority_key)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(value) if number and value is not None else None
    if section.strategy == "recent":
        date = instant(metadata.get(section.updated_key))
        return date.timestamp() if date else None
    return None


def _words(conflicts: Sequence[Conflict], kept: Sequence[int]) -> str:
    """Word a notice; the prompt numbers the sources from 1."""
    numbers = {at: number for number, at in enumerate(kept, start=1)}
    pairs = {
        (numbers[item.left], numbers[item.right]): item.reason for item in conflicts
    }
    return disagreement(
        [pair for pair, reason in pairs.items() if reason != "unchecked"],
        [pair for pair, reason in pairs.items() if reason == "unchecked"],
    )


def _is_critical(passage: Passage, section: ContradictionsSection) -> bool:
    stamp = evidence(passage).get("critical") is True
    return stamp or is_on_critical_topic(passage.metadata, section)


def is_on_critical_topic(metadata: Metadata, section: ContradictionsSection) -> bool:
    """Say whether metadata names a topic on which a contradiction declines."""
    topics = items_of(metadata.get(section.topic_key))
    return any(item in section.critical_topics for item in topics)


def _compare(
    lefts: Sequence[str],
    rights: Sequence[str],
    pairs: Sequence[Places],
    section: ContradictionsSection,
) -> Steps[tuple[Conflict, ...]]:
    """
    Compare pairs of texts, by their sentences.

    Returns:
        One conflict a pair at most. A pair that shows none and could not be judged to
        the end is one, too.
    """
    reasons: dict[Places, str] = {}
    try:
        left_texts, right_texts = _read(lefts), _read(rights)
        compared = [
            (places, left, right)
            for places in pairs
            for left in left_texts[places[0]][0]
            for right in right_texts[places[1]][0]
        ]
        unread = [
            places
            for places in pairs
            if not (left_texts[places[0]][1] and right_texts[places[1]][1])
        ]
        if section.method != "local":
            reasons, unjudged = yield from _judge(compared, section)
            unread += unjudged
        else:
            for places, left, right in compared:
                if places not in reasons and (how := find_opposition(left, right)):
                    reasons[places] = how
    except Exception:  # noqa: BLE001 -- what could not be compared is unchecked
        unread = list(pairs)
    for places in unread:
        reasons.setdefault(places, "unchecked")
    return tuple(Conflict(*places, reason) for places, reason in reasons.items())


def _read(texts: Sequence[str]) -> list[tuple[list[SentenceFacts], bool]]:
    """Read the sentences of texts, as the bound allows; say if those are all."""
    share = max(1, _MOST_SENTENCES // max(1, len(texts)))
    stated = [[span.of(text) for span in sentences(text)] for text in texts]
    return [
        ([read_sentence(item) for item in items[:share]], len(items) <= share)
        for items in stated
    ]


def _judge(
    compared: Sequence[SentencePair], section: ContradictionsSection
) -> Steps[tuple[dict[Places, str], list[Places]]]:
    """
    Ask a model about the pairs that are closest; the rest is about other things.

    The pairs of texts of which some was not judged are returned beside the reasons.
    """
    near = [
        (closeness, places, (left.text, right.text))
        for places, left, right in compared
        if (closeness := share_subject(left, right)) >= _WORTH_JUDGING
    ]
    near.sort(key=lambda item: -item[0])
    chosen = near[:_MOST_JUDGED]
    unjudged = [places for _, places, _ in near[_MOST_JUDGED:]]
    texts = [pair for *_, pair in chosen]
    values = yield from ask(texts, "contradiction", section.method)
    reasons: dict[Places, str] = {}
    for (_, places, _), value in zip(chosen, values, strict=True):
        if value is None:
            unjudged.append(places)
        elif value >= section.threshold:
            reasons[places] = "model"
    return reasons, unjudged
