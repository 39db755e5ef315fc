"""
What becomes of each text once all findings are in.

A passage is withheld when a constraint that holds for it could not be judged, when a
constraint of the method `withhold` found something in it, or when a located form could
not be removed. A metadata value that cannot be judged is left out; its passage stays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sdrag.disclosure.metadata import rewritten
from sdrag.disclosure.monotone import Before
from sdrag.disclosure.redaction import Cut, Sweep, cut, disguised, public_id
from sdrag.disclosure.texts import Texts
from sdrag.identities import alias
from sdrag.vocabulary import (
    EVIDENCE_KEY,
    Action,
    Confidential,
    Decision,
    Passage,
    Redaction,
)

__all__ = [
    "Doubts",
    "Judged",
    "Release",
    "decision",
    "read",
    "release",
    "withheld",
    "written",
]

Doubts = Mapping[tuple[int, str], str]
"""Why a constraint could not be judged on a text, by the text's place and its id."""


@dataclass(frozen=True, slots=True, repr=False)
class Release(Confidential):
    """
    What becomes of a passage, apart from its score: that belongs to the query.

    Where it stands for several, `members` are the others' places and `ids` all ids.
    """

    id: str
    text: str | None
    metadata: Mapping[str, Any]
    constraint_ids: tuple[str, ...]
    spans: int
    reason: str = ""
    doubtful: bool = False
    members: tuple[int, ...] = ()
    ids: tuple[str, ...] = ()

    def of(self, passage: Passage, passages: Sequence[Passage]) -> Redaction:
        """
        Make the redaction of the passage it was made from.

        Args:
            passage: That passage.
            passages: All: one that stands for several takes their best score.
        """
        kept = None
        if self.text is not None:
            scores = [
                one.score
                for one in (passage, *(passages[place] for place in self.members))
                if one.score is not None
            ]
            best = max(scores) if scores else None
            metadata = {**self.metadata, **self._evidence()}
            kept = Passage(self.id, self.text, metadata, best)
        ids = self.ids or (self.id,)
        return Redaction(kept, ids, self.constraint_ids, self.spans, self.reason)

    def _evidence(self) -> dict[str, Any]:
        """Say what was done to the passage, in ids and counts."""
        if not self.spans:
            return {}
        said: dict[str, Any] = {
            "constraints": list(self.constraint_ids),
            "spans": self.spans,
        }
        if self.members:
            said["passages"] = list(self.ids)
        return {EVIDENCE_KEY: said}


@dataclass(frozen=True, slots=True, repr=False)
class Judged(Confidential):
    """
    All texts, what was cut from each, and what stayed in doubt.

    Args:
        texts: What was judged.
        cuts: One per text.
        doubts: What could not be judged.
        swept: For each text the forms that have to be gone from it.
        key: Makes aliases of ids.
        closed: Constraints that withhold whatever they hold for, and why.
        merged: Passages whose content stands in another one's text, and which.
        before: What is withheld because it was before.
    """

    texts: Texts
    cuts: Sequence[Cut]
    doubts: Doubts
    swept: Sequence[Sweep]
    key: bytes
    closed: Mapping[str, str] = field(default_factory=dict)
    merged: Mapping[int, int] = field(default_factory=dict)
    before: Before = field(default_factory=Before)

    def why_withheld(self, place: int) -> tuple[str, bool]:
        """Return the reason's code, empty for none, and whether it may pass."""
        if place in self.merged:
            return "merged", False
        for name in self.texts.applied[place]:
            if name in self.closed:
                return self.closed[name], False
            if (place, name) in self.doubts:
                return self.doubts[place, name], True
        if self.cuts[place].text is None:
            return "still-present", True
        dropping = {r.id for r in self.texts.constraints if r.method == "withhold"}
        if dropping & set(self.cuts[place].constraint_ids):
            return "withheld-by-constraint", False
        return "", False


def release(judged: Judged, index: int) -> Release:
    """Decide on the passage at `index`."""
    own, public = judged.cuts[index], _alias_of(judged, index)
    reason, doubtful = judged.why_withheld(index)
    if reason or own.text is None:
        closed = tuple(n for n in judged.texts.applied[index] if n in judged.closed)
        names = tuple(dict.fromkeys((*closed, *own.constraint_ids)))
        return Release(public, None, {}, names, own.spans, reason, doubtful)
    metadata = _metadata(judged, index)
    members = tuple(p for p, into in judged.merged.items() if into == index)
    ids = (public, *(_alias_of(judged, member) for member in members))
    return Release(
        public,
        own.text,
        metadata,
        own.constraint_ids,
        own.spans,
        members=members,
        ids=ids,
    )


def _alias_of(judged: Judged, index: int) -> str:
    identity, applied = judged.texts.passages[index].id, judged.texts.applied[index]
    closed = not judged.closed.keys().isdisjoint(applied)  # all of it is a secret
    if closed or identity in judged.before.hidden(index):
        return alias(identity, judged.key)
    return public_id(identity, applied, judged.swept[index], judged.key)


def written(releases: Sequence[Release]) -> str:
    """Write releases down, for a cache: what may leave, and nothing else."""
    return json.dumps(
        [
            [
                one.id,
                one.text,
                one.metadata,
                ",".join(one.constraint_ids),
                one.spans,
                one.reason,
                one.members,
                one.ids,
            ]
            for one in releases
        ]
    )


def read(text: str) -> tuple[Release, ...]:
    """Read what `written` wrote."""
    return tuple(
        Release(
            id=identity,
            text=kept,
            metadata=metadata,
            constraint_ids=tuple(names.split(",")) if names else (),
            spans=spans,
            reason=reason,
            members=tuple(members),
            ids=tuple(ids),
        )
        for identity, kept, metadata, names, spans, reason, members, ids in json.loads(
            text
        )
    )


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


def _metadata(judged: Judged, index: int) -> dict[str, Any]:
    applied, places = judged.texts.applied[index], judged.texts.places[index]
    hidden, swept = judged.before.hidden(index), judged.swept[index]

    def rewrite(value: str) -> str | None:
        place = places.get(value)
        if place is not None and judged.why_withheld(place)[0]:
            return None
        if place is None and value in hidden:
            return None
        known = judged.cuts[place] if place is not None else None
        own = known or cut(value, (), applied, swept)
        if own.text is None or disguised(own.text, applied, swept):
            return None
        return own.text

    return rewritten(judged.texts.metadata[index], rewrite)
