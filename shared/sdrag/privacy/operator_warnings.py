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
from typing import Any

from sdrag.privacy.audit import AuditEvent
from sdrag.privacy.identities import NO_PASSAGES
from sdrag.privacy.reasons import WARNED, explain
from sdrag.vocabulary import Constraint, Passage

_logger = logging.getLogger("sdrag")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.-]{0,63}", re.ASCII)
_OF_TOOLS = (
    " Every tool is guarded. If this one retrieves nothing, guard those that do alone:"
    " name them in `tools=[...]` of `SelectiveDisclosureMiddleware`, or pass them alone"
    " to `guard_tool`."
)
_WHERE_MISSING = {
    "hold": "where it is missing, the constraint holds",
    "skip": "where it is missing, the constraint does not hold",
}


class OperatorWarnings:
    """What one wrapper has warned of."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: set[Hashable] = set()

    def of_event(
        self, event: AuditEvent, *, nothing_left: bool, tool: str | None = None
    ) -> None:
        """Warn of what an event shows, and of a request that is left no passage."""
        codes = Counter(item.reason for item in event.decisions)
        for code in codes.keys() & WARNED:
            mend = _mend(code)
            self._once(code, "%s: %s %d.%s", event.stage, code, codes[code], mend)
        if nothing_left:
            self._of_nothing(event, tool)

    def _of_nothing(self, event: AuditEvent, tool: str | None) -> None:
        """Warn that all passages were withheld, unless another warning says why."""
        withheld = [
            item
            for item in event.decisions
            if item.action in {"dropped", "withheld"}
            and item.subject not in NO_PASSAGES
        ]
        codes = Counter(item.reason for item in withheld).most_common()
        if {code for code, _ in codes} <= WARNED:
            return
        what = "all passages of a request were withheld"
        if tool is not None:
            name = f"the tool {tool!r}" if _IDENTIFIER.fullmatch(tool) else "a tool"
            what = f"nothing is left of what {name} returned"
        ids = sorted({name for item in withheld for name in item.constraint_ids})
        self._once(
            ("nothing left", tool),
            "%s: %s (%s)%s.%s%s",
            event.stage,
            what,
            ", ".join(f"{code} {count}" for code, count in codes),
            f", by {', '.join(ids)}" if ids else "",
            _mend(codes[0][0]),
            "" if tool is None else _OF_TOOLS,
        )

    def of_keys(self, rules: Iterable[Constraint], passages: Sequence[Passage]) -> None:
        """Warn of the keys of a `where` that no passage of a corpus carries."""
        carried = {key for passage in passages for key in passage.metadata}
        missing = ((r, key) for r in rules for key in r.where if key not in carried)
        for rule, key in missing if passages else ():
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

    def of_role(self, role: str, constraint_id: str) -> None:
        """Warn of a principal who has nearly a role that a constraint names."""
        self._once(
            ("role", role, constraint_id),
            "A principal has a role that no constraint names, nearly %s of the `unless`"
            " of %s. Roles are compared as they are, so the constraint binds: check how"
            " the role is spelt in the policy and in your application.",
            repr(role) if _IDENTIFIER.fullmatch(role) else "a role",
            constraint_id,
        )

    def _once(self, cause: Hashable, message: str, *args: Any) -> None:
        if cause not in self._known:
            self._known.add(cause)
            _logger.warning(message, *args)


def warn_of_no_state() -> None:
    """Warn of a guard that cannot know what was withheld from its context."""
    _logger.warning(
        "A guard of answers has no state, so it does not know what was withheld from"
        " its context. Give it the retriever's: `state=`."
    )


def warn_of_everything(policy_hash: str) -> None:
    """Warn that a policy is in force which hides nothing, as it says itself."""
    _logger.warning(
        "The policy %s has no constraints, as it allows: no text is withheld by it.",
        policy_hash,
    )


def warn_of_unbound(policy_hash: str, ids: Sequence[str]) -> None:
    """Warn that a state was bound before some constraints were what they are."""
    _logger.warning(
        "The state was bound under another policy than %s, without the constraints %s."
        " Bind the corpus again: what is not bound is read chunk by chunk.",
        policy_hash,
        ", ".join(ids),
    )


def tell_of_reload(
    before: Sequence[Constraint],
    after: Sequence[Constraint],
    *,
    old_hash: str,
    new_hash: str,
) -> None:
    """Log a policy that was read again; warn of the constraints that went with it."""
    left = {rule.text for rule in after}
    gone = [rule.id for rule in before if rule.text not in left]
    _logger.log(
        logging.WARNING if gone else logging.INFO,
        "The policy was read again: %s, before %s.%s",
        new_hash,
        old_hash,
        f" Of the old constraints these are gone: {', '.join(gone)}." if gone else "",
    )


def _mend(code: str) -> str:
    reason = explain(code)
    return f" {reason.happened} {reason.mend}" if reason else ""
