"""Read by mypy only: what a type checker knows of the names of `sdrag`."""

from __future__ import annotations

from typing import assert_type

import sdrag
from sdrag import (
    AuditEvent,
    Constraint,
    Limits,
    Passage,
    Policy,
    Principal,
    SdragError,
    UsageError,
    open_state,
)


def names_have_types(policy: Policy, event: AuditEvent, limits: Limits) -> None:
    assert_type(sdrag.Policy.read("policy.yaml"), Policy)
    assert_type(Principal("someone"), Principal)
    assert_type(Passage("id", "text").text, str)
    assert_type(open_state(), sdrag.State)
    error: SdragError = UsageError("wrong")
    use(policy, event, limits, error, Constraint)
    use(sdrag.Polcy)  # type: ignore[attr-defined]  # a misspelt name is an error
    Principal(1)  # type: ignore[arg-type]  # and so is a wrong type


def use(*_: object) -> None: ...
