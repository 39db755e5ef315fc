"""What a policy does, in plain words that quote nothing of it."""

from __future__ import annotations

from collections.abc import Iterator

from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.disclosure.setup import why_not
from sdrag.policy import Policy
from sdrag.vocabulary import Constraint

_KINDS = {
    "types": "asks for mentions of these types",
    "people": "asks for people",
    "named": "asks for whom or what it names",
    "statement": "asks for what it states",
    "meaning": "asks for what must be understood",
    "everything": "forbids everything",
    "only": "forbids all but something",
}


def understood_as(parsed: ParsedConstraint) -> str:
    """Say what a constraint asks for."""
    types = f" ({', '.join(sorted(parsed.types))})" if parsed.types else ""
    named = parsed.people and parsed.kind != "people"
    people = ", with the names of people" if named else ""
    return f"{_KINDS[parsed.kind]}{types}{people}"


def limits_of(rule: Constraint) -> tuple[str, ...]:
    """Return how a constraint is enforced, and the names of what limits it."""
    limits = (
        ("where", rule.where),
        ("where_missing: skip", rule.where_missing == "skip"),
        ("unless", rule.unless),
        ("always", rule.always),
        (f"sensitivity: {rule.sensitivity}", rule.sensitivity is not None),
        ("keep", rule.keep),
    )
    return (rule.method, *(name for name, given in limits if given))


def without_model(parsed: ParsedConstraint, policy: Policy, *, has_model: bool) -> str:
    """
    Say what becomes of a constraint that needs a model, or what to know of another.

    Args:
        parsed: The constraint.
        policy: For its `when_not_understood`.
        has_model: Whether there is one.
    """
    reason = why_not(parsed)
    if not reason:
        return f"warning: {parsed.reason}" if parsed.reason else ""
    if policy.when_not_understood == "withhold":
        end = "Without a model, all it holds for is withheld."
    elif has_model:
        end = "The model decides."
    else:
        end = "The wrapper is refused without a model."
    return f"needs a model: {reason} {end}"


def settings_of(policy: Policy) -> Iterator[str]:
    """Yield what the rest of a policy does, and what its author should know."""
    yield f"guards: {', '.join(policy.guards) or 'none'}"
    if policy.keep:
        yield f"keep: {len(policy.keep)} that stay under every constraint"
    if not policy.metadata.keys:
        yield "metadata: every key stays behind (metadata.allow is empty)"
    if policy.metadata.verbatim:
        keys = ", ".join(policy.metadata.verbatim)
        yield f"metadata: no constraint reads {keys} (metadata.verbatim)"
    if policy.disclosure.top_k is not None:
        yield (
            "warning: with top_k the question decides which constraints are applied,"
            " so what one question hides another may show"
        )
