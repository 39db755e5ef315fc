"""
Constraints that withhold every passage they hold for.

A blanket one does because it says so ("nothing may be disclosed"); one that needs a
model where there is none does because nobody can say what it asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.vocabulary import Constraint

__all__ = ["closed_rules"]


def closed_rules(
    rules: Iterable[Constraint], *, understands: bool
) -> Mapping[str, str]:
    """
    Return the ids of such constraints, each with the reason's code.

    Args:
        rules: Of the policy.
        understands: Whether there is a model, or a locator of the host's own.
    """
    reasons = {rule.id: _reason(parse(rule), understands=understands) for rule in rules}
    return {name: reason for name, reason in reasons.items() if reason}


def _reason(parsed: ParsedConstraint, *, understands: bool) -> str:
    if parsed.kind == "everything":
        return "everything"
    if parsed.status == "needs_model" and not understands:
        return "not-understood"
    return ""
