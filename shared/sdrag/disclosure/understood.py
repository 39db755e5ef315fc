"""
No constraint is accepted and then not enforced.

Without a model, a constraint may be more than the local engine understands: of another
language, an allow-list, gibberish. Then the wrapper is refused when it is built, unless
the policy says that whatever such a constraint holds for is withheld.
"""

from __future__ import annotations

from sdrag.disclosure.constraint_parser import parse
from sdrag.errors import ConstraintNotUnderstoodError
from sdrag.policy import Policy

__all__ = ["check_understood", "not_understood"]


def not_understood(policy: Policy) -> dict[str, str]:
    """Return the constraints that need a model, by id, and why they do."""
    return {
        parsed.constraint.id: parsed.reason
        for parsed in map(parse, policy.rules)
        if parsed.status == "needs_model"
    }


def check_understood(policy: Policy, *, has_model: bool) -> None:
    """
    Refuse a policy of which something could not be enforced.

    Raises:
        ConstraintNotUnderstoodError: A constraint needs a model, there is none, and
            the policy does not say that its passages are withheld.
    """
    if has_model or policy.when_not_understood == "withhold":
        return
    if reasons := not_understood(policy):
        raise ConstraintNotUnderstoodError(reasons)
