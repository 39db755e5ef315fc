"""
What becomes of each passage once it is known what is in it.

A passage is withheld when a constraint that holds for it could not be decided, or when
a constraint of the method `withhold` takes something out of it. A metadata value that
cannot be decided is left out; its passage stays. A frame that would have to be changed
is left out, too. All of it is a function of the
passage, what is known of it and the constraints that are enforced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sdrag.disclosure.cutting import RedactedText, cut
from sdrag.disclosure.placeholders import Marks
from sdrag.disclosure.stored_findings import Facts
from sdrag.disclosure.texts import Texts, rewritten
from sdrag.privacy.identities import alias
from sdrag.text.decoding import is_packed
from sdrag.vocabulary import (
    EVIDENCE_KEY,
    Action,
    Confidential,
    Decision,
    Passage,
    Redaction,
)

__all__ = ["Enforcement", "decision", "release", "withheld"]


@dataclass(frozen=True, slots=True, repr=False)
class Enforcement(Confidential):
    """
    All texts of a request, what is known of them, and what is enforced.

    Args:
        texts: As retrieved.
        facts: What is known of them.
        applied: The constraints enforced on each passage, in the policy's order.
        marks: What stands in place of what they take.
        key: Makes aliases of ids.
        closed: Constraints that withhold whatever they hold for, and why.
        methods: How each constraint is enforced.
        rephrased: What a model made of passages, in place of the cuts.
        merged: Passages whose content is in another one's text, and which.
        failed: Why a constraint is enforced by cuts where a model was to rephrase.
    """

    texts: Texts
    facts: Facts
    applied: Sequence[tuple[str, ...]]
    marks: Marks
    key: bytes
    closed: Mapping[str, str]
    methods: Mapping[str, str]
    rephrased: Mapping[int, RedactedText] = field(default_factory=dict)
    merged: Mapping[int, int] = field(default_factory=dict)
    failed: Mapping[tuple[int, str], str] = field(default_factory=dict)
    _cuts: dict[tuple[int, tuple[str, ...]], RedactedText] = field(default_factory=dict)

    def cut_of(self, index: int) -> RedactedText:
        """Return what is left of the passage at `index`."""
        if index in self.rephrased:
            return self.rephrased[index]
        return self._cut(index, self.applied[index])

    def cut_before(self, index: int, names: Sequence[str]) -> RedactedText:
        """Return what the named constraints leave of the passage."""
        return self._cut(index, tuple(n for n in self.applied[index] if n in names))

    def string_of(self, index: int, text_index: int) -> str | None:
        """Return what is left of a metadata string of the passage, if it may leave."""
        names = self.applied[index]
        packed = names and is_packed(self.texts.all[text_index].text)
        if packed or self._doubt(text_index, names):
            return None
        own = self._cut(text_index, names)
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
        for text_index in (index, *self.texts.string_indices[index].values()):
            names |= self.facts.taken[text_index].names
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
        own = self.cut_of(index)
        if "withhold" in map(self.methods.__getitem__, own.constraint_ids):
            return "withheld-by-constraint", False
        if doubt := self._doubt(index, self.applied[index]):
            return doubt, True
        return ("", False) if own.text is not None else ("still-present", True)

    def why_without_model(self, index: int) -> str:
        """Return why the local engine decided in a model's place; empty for none."""
        failures = {**self.failed, **self.facts.fallbacks}
        codes = (failures.get((index, name)) for name in self.applied[index])
        return next(filter(None, codes), "")

    def _cut(self, text_index: int, names: tuple[str, ...]) -> RedactedText:
        known = self._cuts.get((text_index, names))
        if known is None:
            text, taken = self.texts.all[text_index].text, self.facts.taken[text_index]
            known = cut(text, taken, names, self.marks)
            self._cuts[text_index, names] = known
        return known

    def _doubt(self, text_index: int, names: Sequence[str]) -> str:
        codes = (self.facts.doubts.get((text_index, name)) for name in names)
        return next(filter(None, codes), "") if self.facts.doubts else ""


def release(enforcement: Enforcement, index: int) -> Redaction:
    """Decide on the passage at `index`."""
    public = _alias_of(enforcement, index)
    reason, _ = enforcement.why_withheld(index)
    own = enforcement.cut_of(index)
    if reason or own.text is None:
        closed = tuple(n for n in enforcement.applied[index] if n in enforcement.closed)
        names = tuple(dict.fromkeys((*closed, *own.constraint_ids)))
        return Redaction(None, (public,), names, own.spans, reason)
    members = [
        text_index for text_index, into in enforcement.merged.items() if into == index
    ]
    ids = (public, *(_alias_of(enforcement, member) for member in members))
    metadata = {
        **_metadata(enforcement, index),
        **_evidence(enforcement, index, own, ids),
    }
    scores = [
        score
        for text_index in (index, *members)
        if (score := enforcement.texts.passages[text_index].score) is not None
    ]
    best = max(scores) if scores else None
    frame = _frame(enforcement, index)
    kept = Passage(public, own.text, metadata, best, frame=frame)
    reason = enforcement.why_without_model(index)
    return Redaction(kept, ids, own.constraint_ids, own.spans, reason)


def _evidence(
    enforcement: Enforcement, index: int, own: RedactedText, ids: tuple[str, ...]
) -> dict[str, Any]:
    """Say what was done to the passage, in ids and counts."""
    taking = enforcement.taking(index).union(own.constraint_ids)
    names = [name for name in enforcement.applied[index] if name in taking]
    if not names:
        return {}
    said: dict[str, Any] = {
        "constraints": names,
        "spans": own.spans,
        "document": enforcement.facts.handles[index].hex(),
    }
    if len(ids) > 1:
        said["passages"] = list(ids)
    return {EVIDENCE_KEY: said}


def _alias_of(enforcement: Enforcement, index: int) -> str:
    identity = enforcement.texts.passages[index].id
    closed = not enforcement.closed.keys().isdisjoint(enforcement.applied[index])
    if closed or identity in enforcement.hidden(index):  # closed: all of it is a secret
        return alias(identity, enforcement.key)
    return identity


def _metadata(enforcement: Enforcement, index: int) -> dict[str, Any]:
    strings, hidden = (
        enforcement.texts.string_indices[index],
        enforcement.hidden(index),
    )

    def rewrite(value: str) -> str | None:
        text_index = strings.get(value)
        if text_index is not None:
            return enforcement.string_of(index, text_index)
        return None if value in hidden else value

    read = rewritten(enforcement.texts.metadata[index], rewrite)
    return {**read, **enforcement.texts.verbatim[index]}


def _frame(enforcement: Enforcement, index: int) -> str:
    """Return the frame of the passage, where nothing is taken out of it."""
    frame = enforcement.texts.passages[index].frame
    text_index = enforcement.texts.string_indices[index].get(frame)
    if text_index is None:
        return ""
    return frame if enforcement.string_of(index, text_index) == frame else ""


def withheld(identity: str, reason: str) -> Redaction:
    """Withhold a passage before it was read."""
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
