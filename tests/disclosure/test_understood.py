"""A constraint is never accepted and then not enforced."""

from __future__ import annotations

import pytest

from sdrag.disclosure.setup import check_understood, not_understood
from sdrag.errors import ConstraintNotUnderstoodError, PolicyError
from sdrag.policy import Policy

from ..support.scripted import canary

SECRET = canary("constraint")
ENTRIES = [
    {"id": "names", "text": "Remove the names of witnesses"},
    {"id": "first", "text": f"Remove les noms et prénoms des {SECRET}"},
    {"id": "second", "text": "Only the verdict may be disclosed"},
]
WITHHOLDING = {"constraints": ENTRIES, "when_not_understood": "withhold"}


def test_it_is_refused_by_id_and_reason() -> None:
    """And told what to do, in no word of its text."""
    with pytest.raises(ConstraintNotUnderstoodError) as raised:
        check_understood(Policy.read({"constraints": ENTRIES}), has_model=False)

    error = raised.value
    assert isinstance(error, PolicyError)
    assert error.reasons == not_understood(Policy.read(WITHHOLDING))
    assert error.reasons.keys() == {"first", "second"}
    for part in ("first", "second", error.reasons["first"], "llm="):
        assert part in str(error)
    assert "when_not_understood: withhold" in error.hint
    assert SECRET not in f"{error} {error!r} {error.reasons}"


def test_it_is_accepted_where_it_will_be_enforced() -> None:
    """By a model, or by withholding what it holds for."""
    for policy, has_model in (
        ({"constraints": ENTRIES}, True),
        (WITHHOLDING, False),
        ({"constraints": ENTRIES[:1]}, False),
        ({}, False),
    ):
        check_understood(Policy.read(policy), has_model=has_model)
