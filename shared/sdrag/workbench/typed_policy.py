"""A policy as it is in the editor: what it means, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.errors import PolicyError
from sdrag.explanation.understood_as import (
    limits_of,
    settings_of,
    understood_as,
    without_model,
)
from sdrag.policy import Policy
from sdrag.policy.reading import Lines, parsed
from sdrag.workbench.limits import MAX_CONSTRAINTS, MAX_PROBLEMS
from sdrag.workbench.refusals import RefusedError
from sdrag.workbench.requests import Viewing

__all__ = ["described", "policy_of", "with_sensitivity"]

_SECTION = re.compile(r"^disclosure:[ \t]*(#.*)?$", re.MULTILINE)
_VALUE = re.compile(r"^(\s+sensitivity:[ \t]*)[^\s#]+", re.MULTILINE)


def described(text: str) -> dict[str, Any]:
    """
    Describe a policy that is being typed; it may be wrong, and is bounded.

    Returns:
        Its problems with line and key, and where there are none each constraint with
        what it is understood as, and what the rest does.
    """
    problems = _problems(text)
    result: dict[str, Any] = {
        "problems": [_problem(one) for one in problems[:MAX_PROBLEMS]],
        "problem_count": len(problems),
        "constraints": [],
        "settings": [],
        "roles": [],
        "sensitivity": None,
        "constraint_count": 0,
    }
    if problems:
        return result
    policy, lines = Policy.parse(text), _lines(text)
    return result | {
        "constraints": [
            _constraint(parse(rule), policy, lines.get(("constraints", number)))
            for number, rule in enumerate(policy.rules[:MAX_CONSTRAINTS])
        ],
        "constraint_count": len(policy.rules),
        "settings": list(settings_of(policy)),
        "roles": list(dict.fromkeys(_roles(policy)))[:MAX_CONSTRAINTS],
        "sensitivity": policy.disclosure.sensitivity,
    }


def policy_of(viewing: Viewing) -> Policy:
    """
    Return the policy that is looked at, with the slider's sensitivity.

    Raises:
        RefusedError: It is wrong.
    """
    try:
        policy = Policy.parse(viewing.policy)
    except PolicyError as error:
        raise RefusedError(422, f"The policy cannot be read: {error}") from None
    if viewing.sensitivity is None:
        return policy
    section = policy.disclosure.model_copy(update={"sensitivity": viewing.sensitivity})
    return policy.model_copy(update={"disclosure": section})


def with_sensitivity(viewing: Viewing) -> str:
    """
    Return the text of a policy with the slider's sensitivity written into it.

    Comments and order stay. What comes of it is read again, and has to mean what the
    page shows.

    Raises:
        RefusedError: The policy is wrong, or written so that it cannot be done.
    """
    if viewing.sensitivity is None:
        raise RefusedError(422, "There is no sensitivity to write.")
    wanted, text = policy_of(viewing), viewing.policy
    for changed in _candidates(text, viewing.sensitivity):
        if not _problems(changed) and Policy.parse(changed).hash == wanted.hash:
            return changed
    raise RefusedError(
        422, "Write `sensitivity` under `disclosure` yourself: it cannot be placed."
    )


def _candidates(text: str, name: str) -> Iterator[str]:
    """Yield texts in which the sensitivity is written at different places."""
    yield text
    section = _SECTION.search(text)
    if section is None:
        end = "" if not text or text.endswith("\n") else "\n"
        yield f"{text}{end}disclosure:\n  sensitivity: {name}\n"
        return
    head, rest = text[: section.end()], text[section.end() :]
    yield head + _VALUE.sub(rf"\g<1>{name}", rest, count=1)
    below = re.match(r"(?:\s*#[^\n]*|\s*)*\n([ \t]+)\S", rest)
    indent = below.group(1) if below else "  "
    yield f"{head}\n{indent}sensitivity: {name}{rest}"


def _problems(text: str) -> tuple[PolicyError, ...]:
    try:
        Policy.parse(text)
    except PolicyError as error:
        return error.problems
    return ()


def _lines(text: str) -> Lines:
    read = parsed(text)
    return {} if isinstance(read, PolicyError) else read[1]


def _problem(error: PolicyError) -> dict[str, Any]:
    return {"line": error.line, "key": error.key, "message": str(error)}


def _constraint(
    found: ParsedConstraint, policy: Policy, line: int | None
) -> dict[str, Any]:
    rule = found.constraint
    return {
        "id": rule.id,
        "line": line,
        "text": rule.text,
        "kind": found.kind,
        "understood": understood_as(found),
        "limits": list(limits_of(rule)),
        "status": found.status,
        "warning": without_model(found, policy, has_model=False) or found.reason,
    }


def _roles(policy: Policy) -> Iterator[str]:
    """Yield the roles that a constraint does not bind."""
    for rule in policy.rules:
        for attributes in rule.unless:
            yield from map(str, attributes.get("roles", ()))
