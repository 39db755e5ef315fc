"""
Warnings for whoever runs the application: what has to be mended, each cause once.

Every event tells its decisions, but few read events before something is wrong. So each
wrapper warns on the logger `sdrag` of what hides passages without being meant to, and
says what mends it. A warning holds codes, counts and the ids that events hold: no text.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from threading import Lock
from typing import Any

from sdrag.privacy.audit import AuditEvent
from sdrag.reasons import WARNED, explain
from sdrag.vocabulary import Constraint, Decision, Passage

__all__ = ["OperatorWarnings"]

_logger = logging.getLogger("sdrag")
_NO_PASSAGE = {"answer", "constraints", "query"}
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.-]{0,63}", re.ASCII)
_OF_TOOLS = (
    "Every tool is guarded. If this one retrieves nothing, guard those that do alone:"
    " name them in `tools=[...]` of `SelectiveDisclosureMiddleware`, or pass them alone"
    " to `guard_tool`."
)
_WHERE_MISSING = {
    "hold": "where it is missing, the constraint holds",
    "skip": "where it is missing, the constraint does not hold",
}


class OperatorWarnings:
    """What one wrapper has warned of; several threads may share it."""

    __slots__ = ("_lock", "_said")

    def __init__(self) -> None:
        self._lock = Lock()
        self._said: set[Hashable] = set()

    def of_event(
        self, event: AuditEvent, *, nothing_left: bool, tool: str | None = None
    ) -> None:
        """
        Warn of what an event shows.

        Args:
            event: Of one request.
            nothing_left: The request was to return passages, and returns none.
            tool: The name of the tool whose result the passages are.
        """
        codes = Counter(
            decision.reason for decision in event.decisions if decision.reason in WARNED
        )
        for code, count in codes.items():
            self._once(code, "%s: %s %d.%s", event.stage, code, count, _of(code))
        if nothing_left:
            self._of_nothing(event, tool)

    def of_keys(self, rules: Iterable[Constraint], passages: Sequence[Passage]) -> None:
        """Warn of the keys of a `where` that no passage of a corpus carries."""
        if not passages:
            return
        carried = {key for passage in passages for key in passage.metadata}
        for rule in rules:
            for key in rule.where:
                if key in carried:
                    continue
                self._once(
                    (rule.id, key),
                    "The `where` of constraint %s names %s, which none of %d chunks"
                    " carries: %s. Check how the key is spelt in the policy and in the"
                    " metadata.",
                    rule.id,
                    f"the key {key!r}" if _IDENTIFIER.fullmatch(key) else "a key",
                    len(passages),
                    _WHERE_MISSING[rule.where_missing],
                )

    def of_documents(self, passages: Sequence[Passage]) -> None:
        """Warn of chunks of which nobody knows what document they are of."""
        lost = sum(passage.document_id is None for passage in passages)
        if lost:
            self._once(
                "no document",
                "%d of %d chunks name no document, so each is read by itself: what one"
                " says of a name is not known in the others. Name the metadata key that"
                " holds it under `document_keys` in the policy.",
                lost,
                len(passages),
            )

    def _of_nothing(self, event: AuditEvent, tool: str | None) -> None:
        """Warn that all passages were withheld, unless another warning says why."""
        withheld = [
            decision for decision in event.decisions if _takes_a_passage(decision)
        ]
        codes = Counter(item.reason for item in withheld)
        if codes.keys() <= WARNED:
            return
        ids = sorted({name for item in withheld for name in item.constraint_ids})
        (first, _), *_ = codes.most_common(1)
        what, mend = "all passages of a request were withheld", ""
        if tool is not None:
            known = _IDENTIFIER.fullmatch(tool)
            what = (
                f"nothing is left of what {f'the tool {tool!r}' if known else 'a tool'}"
            )
            what, mend = f"{what} returned", f" {_OF_TOOLS}"
        self._once(
            ("nothing left", tool),
            "%s: %s (%s)%s.%s%s",
            event.stage,
            what,
            ", ".join(f"{code} {count}" for code, count in codes.most_common()),
            f", by {', '.join(ids)}" if ids else "",
            _of(first),
            mend,
        )

    def _once(self, cause: Hashable, message: str, *args: Any) -> None:
        with self._lock:
            known = cause in self._said
            self._said.add(cause)
        if not known:
            _logger.warning(message, *args)

    def __reduce__(self) -> tuple[type[OperatorWarnings], tuple[()]]:
        """Begin anew in a copy: a lock belongs to one process."""
        return OperatorWarnings, ()


def _of(code: str) -> str:
    reason = explain(code)
    return f" {reason.happened} {reason.mend}" if reason else ""


def _takes_a_passage(decision: Decision) -> bool:
    taken = decision.action in {"dropped", "withheld"}
    return taken and decision.subject not in _NO_PASSAGE
