"""The policy as it is in the editor: what it means, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.errors import PolicyError
from sdrag.policy import Policy
from sdrag.policy.reading import parse_yaml
from sdrag.studio.authoring.policy_text import find_disabled
from sdrag.studio.authoring.understood_as import describe, settings_of
from sdrag.studio.workbench.gate import RefusedError
from sdrag.vocabulary import Sensitivity

MAX_CONSTRAINTS = 300
"""Described while a policy is being typed."""

MAX_PROBLEMS = 50
"""Listed while a policy is being typed."""


def describe_text(text: str) -> dict[str, Any]:
    """Describe a policy that is being typed; it may be wrong, and is bounded."""
    problems: tuple[PolicyError, ...] = ()
    try:
        policy = Policy.parse(text)
    except PolicyError as error:
        policy, problems = Policy(), error.problems
    read = parse_yaml(text)
    lines = {} if problems or isinstance(read, PolicyError) else read[1]
    return {
        "problems": [
            {"line": problem.line, "key": problem.key, "message": str(problem)}
            for problem in problems[:MAX_PROBLEMS]
        ],
        "problem_count": len(problems),
        "constraints": [
            _constraint(parse(rule), policy, lines.get(("constraints", number)))
            for number, rule in enumerate(policy.rules[:MAX_CONSTRAINTS])
        ],
        "constraint_count": len(policy.rules),
        "disabled": [] if problems else find_disabled(text)[:MAX_CONSTRAINTS],
        "settings": [] if problems else list(settings_of(policy)),
        "roles": list(dict.fromkeys(_roles(policy)))[:MAX_CONSTRAINTS],
        "sensitivity": None if problems else policy.disclosure.sensitivity,
    }


def policy_of(text: str, sensitivity: Sensitivity | None) -> Policy:
    """Return the policy that is looked at, with the slider's sensitivity."""
    try:
        policy = Policy.parse(text)
    except PolicyError as error:
        raise RefusedError(422, f"The policy cannot be read: {error}") from None
    if sensitivity is None:
        return policy
    section = policy.disclosure.model_copy(update={"sensitivity": sensitivity})
    return policy.model_copy(update={"disclosure": section})


def _constraint(
    read: ParsedConstraint, policy: Policy, line: int | None
) -> dict[str, Any]:
    rule = read.constraint
    effects, limits, warnings = describe(read, policy, has_model=False)
    return {
        "id": rule.id,
        "line": line,
        "text": rule.text,
        "effects": effects,
        "limits": limits,
        "status": read.status,
        "weight": rule.sensitivity,
        "warnings": warnings,
    }


def _roles(policy: Policy) -> Iterator[str]:
    """Yield the roles that a constraint does not bind."""
    for rule in policy.rules:
        for attributes in rule.unless:
            yield from map(str, attributes.get("roles", ()))
