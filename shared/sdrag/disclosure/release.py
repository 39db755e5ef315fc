"""
What becomes of each passage once it is known what is in it.

A passage is withheld when a constraint that holds for it could not be judged, or when a
constraint of the method `withhold` takes something out of it. A metadata value that
cannot be judged is left out; its passage stays. All of it is a function of the passage,
what is known of it and the constraints that are enforced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sdrag.disclosure.cutting import Cut, cut
from sdrag.disclosure.metadata import rewritten
from sdrag.disclosure.stored_findings import Facts
from sdrag.disclosure.texts import Texts
from sdrag.privacy.identities import alias
from sdrag.vocabulary import (
    EVIDENCE_KEY,
    Action,
    Confidential,
    Decision,
    Passage,
    Redaction,
)

__all__ = ["Judged", "decision", "release", "withheld"]


@dataclass(frozen=True, slots=True, repr=False)
class Judged(Confidential):
    """
    All texts of a request, what is known of them, and what is enforced.

    Args:
        texts: As retrieved.
        facts: What is known of them.
        applied: The constraints enforced on each passage, in the policy's order.
        placeholders: What stands in the place of what they take.
        key: Makes aliases of ids.
        closed: Constraints that withhold whatever they hold for, and why.
        methods: How each constraint is enforced.
        marks: Placeholders that may stand in a text already.
        rephrased: What a model made of passages, in place of the cuts.
        merged: Passages whose content stands in another one's text, and which.
        failed: Why rephrasing failed for a constraint on a passage, as codes.
    """

    texts: Texts
    facts: Facts
    applied: Sequence[tuple[str, ...]]
    placeholders: Mapping[str, str]
    key: bytes
    closed: Mapping[str, str]
    methods: Mapping[str, str]
    marks: tuple[str, ...] = ()
    rephrased: Mapping[int, Cut] = field(default_factory=dict)
    merged: Mapping[int, int] = field(default_factory=dict)
    failed: Mapping[tuple[int, str], str] = field(default_factory=dict)
    _cuts: dict[tuple[int, tuple[str, ...]], Cut] = field(default_factory=dict)

    def cut_of(self, index: int) -> Cut:
        """Return what is left of the passage at `index`."""
        if index in self.rephrased:
            return self.rephrased[index]
        return self._cut(index, self.applied[index])

    def cut_before(self, index: int, names: Sequence[str]) -> Cut:
        """Return what the named constraints leave of the passage."""
        return self._cut(index, tuple(n for n in self.applied[index] if n in names))

    def string_of(self, index: int, place: int) -> str | None:
        """Return what is left of a metadata string of the passage, if it may leave."""
        names = self.applied[index]
        if self._doubt(place, names):
            return None
        own = self._cut(place, names)
        if "withhold" in map(self.methods.__getitem__, own.constraint_ids):
            return None
        return own.text

    def hidden(self, index: int) -> frozenset[str]:
        """Return the id and the plain values that the passage must not show."""
        names = set(self.applied[index])
        return frozenset(
            leaf
            for leaf, by in self.facts.hidden[index].items()
            if not names.isdisjoint(by)
        )

    def taking(self, index: int) -> set[str]:
        """Return the ids of all constraints that take something out of a passage."""
        names: set[str] = set()
        for place in (index, *self.texts.places[index].values()):
            names |= self.facts.taken[place].names
        for by in self.facts.hidden[index].values():
            names |= by
        return names

    def why_withheld(self, index: int) -> tuple[str, bool]:
        """Return the reason's code, empty for none, and whether it may pass."""
        if index in self.merged:
            return "merged", False
        for name in self.applied[index]:
            if name in self.closed:
                return self.closed[name], False
        if doubt := self._doubt(index, self.applied[index]):
            return doubt, True
        own = self.cut_of(index)
        if own.text is None:
            return "still-present", True
        if "withhold" in map(self.methods.__getitem__, own.constraint_ids):
            return "withheld-by-constraint", False
        return "", False

    def why_hedged(self, index: int) -> str:
        """Return why sentences of a passage are hidden in doubt; empty for none."""
        hedged = self.facts.hedged
        codes = (hedged.get((index, name)) for name in self.applied[index])
        return next(filter(None, codes), "") if hedged else ""

    def _cut(self, place: int, names: tuple[str, ...]) -> Cut:
        known = self._cuts.get((place, names))
        if known is None:
            text, taken = self.texts.all[place].text, self.facts.taken[place]
            known = cut(text, taken, names, self.placeholders, self.marks)
            self._cuts[place, names] = known
        return known

    def _doubt(self, place: int, names: Sequence[str]) -> str:
        if not self.facts.doubts and not self.failed:
            return ""
        for name in names:
            for known in (self.facts.doubts, self.failed):
                if code := known.get((place, name)):
                    return code
        return ""


def release(judged: Judged, index: int) -> Redaction:
    """Decide on the passage at `index`."""
    public = _alias_of(judged, index)
    reason, _ = judged.why_withheld(index)
    own = judged.cut_of(index)
    if reason or own.text is None:
        closed = tuple(n for n in judged.applied[index] if n in judged.closed)
        names = tuple(dict.fromkeys((*closed, *own.constraint_ids)))
        return Redaction(None, (public,), names, own.spans, reason)
    members = [place for place, into in judged.merged.items() if into == index]
    ids = (public, *(_alias_of(judged, member) for member in members))
    metadata = {**_metadata(judged, index), **_evidence(judged, index, own, ids)}
    scores = [
        score
        for place in (index, *members)
        if (score := judged.texts.passages[place].score) is not None
    ]
    best = max(scores) if scores else None
    kept = Passage(public, own.text, metadata, best)
    return Redaction(kept, ids, own.constraint_ids, own.spans, judged.why_hedged(index))


def _evidence(
    judged: Judged, index: int, own: Cut, ids: tuple[str, ...]
) -> dict[str, Any]:
    """Say what was done to the passage, in ids and counts."""
    taking = judged.taking(index).union(own.constraint_ids)
    names = [name for name in judged.applied[index] if name in taking]
    if not names:
        return {}
    said: dict[str, Any] = {
        "constraints": names,
        "spans": own.spans,
        "document": judged.facts.handles[index].hex(),
    }
    if len(ids) > 1:
        said["passages"] = list(ids)
    return {EVIDENCE_KEY: said}


def _alias_of(judged: Judged, index: int) -> str:
    identity = judged.texts.passages[index].id
    closed = not judged.closed.keys().isdisjoint(judged.applied[index])
    if closed or identity in judged.hidden(index):  # closed: all of it is a secret
        return alias(identity, judged.key)
    return identity


def _metadata(judged: Judged, index: int) -> dict[str, Any]:
    places, hidden = judged.texts.places[index], judged.hidden(index)

    def rewrite(value: str) -> str | None:
        place = places.get(value)
        if place is not None:
            return judged.string_of(index, place)
        return None if value in hidden else value

    read = rewritten(judged.texts.metadata[index], rewrite)
    return {**read, **judged.texts.verbatim[index]}


def withheld(identity: str, reason: str) -> Redaction:
    """Withhold a passage before it was judged."""
    return Redaction(passage=None, passage_ids=(identity,), reason=reason)


def decision(redaction: Redaction) -> Decision:
    """Say what became of a passage, without content."""
    action: Action = "redacted" if redaction.spans else "released"
    return Decision(
        subject=redaction.passage_ids[0],
        action="withheld" if redaction.passage is None else action,
        rule="disclosure",
        reason=redaction.reason,
        constraint_ids=redaction.constraint_ids,
        spans=redaction.spans,
    )
