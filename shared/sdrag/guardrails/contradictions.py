"""
Contradictions: sources that disagree are never silently chosen between.

"The model must have a strategy for handling the contradiction" (section 3.5).

Sentences of different passages are compared where they are about the same; local rules
judge, or a model that was handed in. The strategies are the source's five: present
both sides, prefer the more authoritative, prefer the newer, refuse where the topic is
critical (and tell the host, who escalates), flag for review. A preference that cannot
be decided, since a date or a rank is missing or equal, presents both. A judgment that
could not be had is reported as `unchecked`, and refuses where a contradiction would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from sdrag.errors import SdragError
from sdrag.guardrails.dates import instant
from sdrag.guardrails.judging import ask_model, ask_nli
from sdrag.guardrails.opposition import Reading, alike, opposed, read
from sdrag.policy import ContradictionsSection
from sdrag.sentences import sentences
from sdrag.steps import Steps, compute, replied
from sdrag.vocabulary import Confidential, Decision, Passage

__all__ = ["Conflict", "Reconciled", "contradicted", "is_critical", "reconcile"]

RULE = "contradictions"
_MOST_SENTENCES = 200
_MOST_JUDGED = 100
_WORTH_JUDGING = 0.35


@dataclass(frozen=True, slots=True)
class Conflict:
    """
    Two passages that contradict each other, by their places.

    Args:
        left: The place of one.
        right: The place of the other, or of a claim of the answer.
        reason: `figures`, `negation`, `antonym`, `model`, or `unchecked`.
    """

    left: int
    right: int
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Reconciled(Confidential):
    """
    Passages among which contradictions were dealt with.

    Args:
        passages: What may be answered from.
        conflicts: Places in the passages that came in.
        declined: Nothing may be answered; the host escalates.
        note: For the prompt or the reader: which sources disagree. Without content.
        decisions: As elsewhere.
    """

    passages: tuple[Passage, ...]
    conflicts: tuple[Conflict, ...] = ()
    declined: bool = False
    note: str = ""
    decisions: tuple[Decision, ...] = ()

    def __repr__(self) -> str:
        return f"Reconciled({len(self.passages)} passages, {self.conflicts})"


def reconcile(
    passages: Sequence[Passage], section: ContradictionsSection | None
) -> Steps[Reconciled]:
    """
    Find the contradictions among passages, and apply the policy's strategy.

    Args:
        passages: What would be answered from.
        section: None: nothing is compared.
    """
    if section is None or len(passages) < 2:
        return Reconciled(tuple(passages))
    texts = [passage.text for passage in passages]
    pairs = list(combinations(range(len(texts)), 2))
    conflicts = yield from _compared(texts, texts, pairs, section)
    if not conflicts:
        return Reconciled(tuple(passages))
    return _settled(passages, conflicts, section)


def contradicted(
    claims: Sequence[str], passages: Sequence[Passage], section: ContradictionsSection
) -> Steps[tuple[Conflict, ...]]:
    """
    Find the claims of an answer that a passage contradicts.

    Returns:
        Conflicts whose `left` is the passage's place and `right` the claim's.
    """
    pairs = [(at, to) for at in range(len(passages)) for to in range(len(claims))]
    texts = [passage.text for passage in passages]
    return (yield from _compared(texts, claims, pairs, section))


def _settled(
    passages: Sequence[Passage],
    conflicts: tuple[Conflict, ...],
    section: ContradictionsSection,
) -> Reconciled:
    touched = sorted({place for one in conflicts for place in (one.left, one.right)})
    critical = any(is_critical(passages[place], section) for place in touched)
    if critical or section.strategy == "decline":
        reason = "critical" if critical else "contradicted"
        refusal = Decision("query", "withheld", RULE, reason)
        ids = [Decision(passages[at].id, "dropped", RULE, reason) for at in touched]
        return Reconciled((), conflicts, declined=True, decisions=(refusal, *ids))
    losers = {_loser(passages, one, section) for one in conflicts} - {None}
    open_conflicts = [one for one in conflicts if not {one.left, one.right} & losers]
    reason = "review" if section.strategy == "review" else "contradicted"
    decisions = [
        Decision(
            passages[at].id, "dropped" if at in losers else "flagged", RULE, reason
        )
        for at in touched
    ]
    kept = [at for at in range(len(passages)) if at not in losers]
    return Reconciled(
        tuple(passages[at] for at in kept),
        conflicts,
        note=_note(open_conflicts, kept),
        decisions=tuple(decisions),
    )


def _loser(
    passages: Sequence[Passage], conflict: Conflict, section: ContradictionsSection
) -> int | None:
    """Return the place of the passage that gives way, if one does."""
    if conflict.reason == "unchecked":
        return None
    left, right = (
        _rank(passages[place], section) for place in (conflict.left, conflict.right)
    )
    if left is None or right is None or left == right:
        return None
    return conflict.left if left < right else conflict.right


def _rank(passage: Passage, section: ContradictionsSection) -> float | None:
    if section.strategy == "authoritative":
        value = passage.metadata.get(section.authority_key)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(value) if number and value is not None else None
    if section.strategy == "recent":
        date = instant(passage.metadata.get(section.updated_key))
        return date.timestamp() if date else None
    return None


def _note(conflicts: Sequence[Conflict], kept: Sequence[int]) -> str:
    """Number the sources as the prompt will, from 1."""
    pairs = sorted({(kept.index(one.left), kept.index(one.right)) for one in conflicts})
    if not pairs:
        return ""
    named = "; ".join(f"{left + 1} and {right + 1}" for left, right in pairs)
    return (
        f"These sources disagree: {named}. State what each of them says, and cite both."
    )


def is_critical(passage: Passage, section: ContradictionsSection) -> bool:
    """Say whether a passage is about a topic on which a contradiction declines."""
    topic = passage.metadata.get(section.topic_key)
    topics = topic if isinstance(topic, (list, tuple, set, frozenset)) else (topic,)
    return any(one in section.critical_topics for one in topics)


def _compared(
    lefts: Sequence[str],
    rights: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    section: ContradictionsSection,
) -> Steps[tuple[Conflict, ...]]:
    """Compare pairs of texts, by their sentences."""
    try:
        (cut,) = yield from compute(_work, ((lefts, rights, pairs),))
        work = replied(cut)
        if section.method != "local":
            return (yield from _judged(work, section))
        (signs,) = yield from compute(_signs, (work,))
        return replied(signs)
    except SdragError:
        return tuple(Conflict(left, right, "unchecked") for left, right in pairs)


@dataclass(frozen=True, slots=True, repr=False)
class _Sentences(Confidential):
    """Two sentences to compare, and the places of the texts they are from."""

    places: tuple[int, int]
    texts: tuple[str, str]
    readings: tuple[Reading, Reading]


def _work(
    given: tuple[Sequence[str], Sequence[str], Sequence[tuple[int, int]]],
) -> list[_Sentences]:
    lefts, rights, pairs = given
    one, other = _cut(lefts), _cut(rights)
    return [
        _Sentences((left, right), (a[0], b[0]), (a[1], b[1]))
        for left, right in pairs
        for a in one[left]
        for b in other[right]
    ]


def _signs(work: Sequence[_Sentences]) -> tuple[Conflict, ...]:
    found: dict[tuple[int, int], Conflict] = {}
    for pair in work:
        if pair.places not in found and (reason := opposed(*pair.readings)):
            found[pair.places] = Conflict(*pair.places, reason)
    return tuple(found.values())


def _judged(
    work: Sequence[_Sentences], section: ContradictionsSection
) -> Steps[tuple[Conflict, ...]]:
    """Ask a model about the pairs that are closest; the rest is about other things."""
    near = [(alike(*pair.readings), place) for place, pair in enumerate(work)]
    ranked = sorted((one for one in near if one[0] >= _WORTH_JUDGING), reverse=True)
    chosen = [work[place] for _, place in ranked[:_MOST_JUDGED]]
    ask = ask_nli if section.method == "nli" else ask_model
    values = yield from ask([pair.texts for pair in chosen], "contradiction")
    found: dict[tuple[int, int], Conflict] = {}
    for pair, value in zip(chosen, values, strict=True):
        if value is None:
            found.setdefault(pair.places, Conflict(*pair.places, "unchecked"))
        elif value >= section.threshold:
            found[pair.places] = Conflict(*pair.places, "model")
    return tuple(found.values())


def _cut(texts: Sequence[str]) -> list[list[tuple[str, Reading]]]:
    """Cut texts into sentences and read them, as many of each as the bound allows."""
    share = max(1, _MOST_SENTENCES // max(1, len(texts)))
    return [
        [(span.of(text), read(span.of(text))) for span in sentences(text)[:share]]
        for text in texts
    ]
