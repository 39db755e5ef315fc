"""
Values back in an answer, for whom the policy exempts.

With `disclosure.restore` nobody is exempt where passages are redacted, so a model reads
placeholders. Who is exempt by `unless` gets the values back in the answer: only those
of placeholders that stand in the passages that it was made from, as they were released
to the same principal, in the same session and under the same policy. In each of these
passages that shows a placeholder, it must be one that stands for a value that this
principal may see, and for the same one. Any other stays a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sdrag.placeholders import NUMBERED
from sdrag.policy import Policy
from sdrag.state import State
from sdrag.state.values import Restorable
from sdrag.vocabulary import Confidential, Decision, Passage, Principal, Redaction

_LONGEST = 72
"""Characters of a numbered placeholder."""


@dataclass(slots=True, repr=False)
class Restorer(Confidential):
    """
    Puts values into an answer, piece by piece.

    Args:
        values: By their placeholders.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    _held: str = ""

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """How many values the answer may be given, for the audit."""
        number = len(self.values)
        return (Decision("answer", "released", "restore", "restorable", spans=number),)

    def feed(self, piece: str) -> str:
        """Take a piece of the answer; return what cannot change any more."""
        text = self._held + piece
        begun = text.rfind("[", max(0, len(text) - _LONGEST))
        ends = begun < 0 or "]" in text[begun:]
        ready = len(text) if ends else begun
        self._held = text[ready:]
        return NUMBERED.sub(self._value, text[:ready])

    def end(self) -> str:
        """Return what was held back, for the answer has ended."""
        rest, self._held = self._held, ""
        return rest

    def _value(self, match: re.Match[str]) -> str:
        return self.values.get(match.group(), match.group())


def remember_values(
    released: Sequence[Passage],
    redactions: Sequence[Redaction],
    documents: Sequence[bytes],
    scope: Scope,
    now: datetime,
) -> None:
    """
    Keep what placeholders of passages that leave stand for.

    Args:
        released: As they leave.
        redactions: What became of the retrieved ones.
        documents: The key of the document of each retrieved one.
        scope: Whose answer may have the values.
        now: With its time zone.
    """
    pairs = [pair for pair in zip(redactions, documents, strict=True) if pair[0].values]
    rows = []
    for passage in released:
        own = [pair for pair in pairs if pair[0].passage_id == passage.id]
        if len(own) == 1:  # of two of one id nobody knows which it is
            ((redaction, document),) = own
            rows.append(Restorable(scope.key(passage), document, redaction.values))
    scope.state.values.add(rows, now.timestamp())


@dataclass(frozen=True, slots=True, repr=False)
class Scope(Confidential):
    """For whom, in which session and under which policy values are kept and read."""

    state: State
    policy: Policy
    principal: Principal | None
    session_id: str | None

    def key(self, passage: Passage) -> str:
        """Return the key of a passage as it was released."""
        texts = "values", repr(self.session_id), passage.text
        return self.state.keys.mark_release(self.principal, self.policy.hash, texts)


def open_restorer(passages: Iterable[Passage], scope: Scope, now: datetime) -> Restorer:
    """Return what makes an answer whole that was made from these passages."""
    if scope.principal is None or not scope.policy.disclosure.restore:
        return Restorer()
    keys = {scope.key(each): each.text for each in passages}
    known = scope.state.values.read(keys, now.timestamp())
    seen: dict[str, set[str | None]] = {}
    for key, text in keys.items():
        for mark in set(NUMBERED.findall(text)):
            seen.setdefault(mark, set()).add(known.get(key, {}).get(mark))
    return Restorer(
        {
            mark: value
            for mark, values in seen.items()
            if len(values) == 1 and (value := next(iter(values))) is not None
        }
    )
