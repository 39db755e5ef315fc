"""
No constraint is accepted and then not enforced.

Without a model, a constraint may be more than the local engine understands: of another
language, an allow-list, gibberish. So may one that must be understood, where the
trained networks are not installed. Then the wrapper is refused when it is built, unless
the policy says that whatever such a constraint holds for is withheld.
"""

from __future__ import annotations

from sdrag.detectors import tagger
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.local.scorer import is_available
from sdrag.embeddings import installed
from sdrag.errors import ConstraintNotUnderstoodError
from sdrag.policy import Policy

__all__ = ["check_understood", "not_understood", "why_not"]

_MEND = 'Run: pip install "sdrag[local]".'


def why_not(parsed: ParsedConstraint) -> str:
    """
    Say why a constraint cannot be enforced without a model; nothing where it can.

    What is asked for by form or by name needs neither a model nor the extra `local`.
    """
    if parsed.status == "needs_model":
        return parsed.reason
    if installed():
        return ""
    if _needs_scorer(parsed):
        return f"It must be understood, and the scorer is not installed. {_MEND}"
    if parsed.identifying:
        return f"What identifies people needs the tagger. {_MEND}"
    return ""


def not_understood(policy: Policy) -> dict[str, str]:
    """Return the constraints that need a model, by id, and why they do."""
    reasons = {p.constraint.id: why_not(p) for p in map(parse, policy.rules)}
    return {name: reason for name, reason in reasons.items() if reason}


def check_understood(policy: Policy, *, has_model: bool) -> None:
    """
    Refuse a policy of which something could not be enforced.

    What rests on the model alone, for the trained networks are not installed, is warned
    of once, on the logger `sdrag`.

    Raises:
        ConstraintNotUnderstoodError: A constraint needs a model, there is none, and
            the policy does not say that its passages are withheld.
    """
    if has_model:
        _warn_of_model_alone(policy)
        return
    if policy.when_not_understood == "withhold":
        return
    if reasons := not_understood(policy):
        raise ConstraintNotUnderstoodError(reasons)


def _warn_of_model_alone(policy: Policy) -> None:
    """Let the networks that are missing say so, where a constraint needs them."""
    for parsed in map(parse, policy.rules):
        if _needs_scorer(parsed):
            is_available("scorer")
        if parsed.identifying:
            tagger.available()


def _needs_scorer(parsed: ParsedConstraint) -> bool:
    return parsed.kind in {"meaning", "statement"}
