"""A constraint is never accepted and then not enforced."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sdrag.disclosure import setup
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.setup import check_understood, not_understood
from sdrag.errors import ConstraintNotUnderstoodError, PolicyError
from sdrag.policy import Policy
from sdrag.vocabulary import Constraint

from ..support.scripted import canary

SECRET = canary("constraint")
WHY = "It is of another language."
ENTRIES = [
    {"id": "names", "text": "Remove the names of witnesses"},
    {"id": "first", "text": f"Xyz {SECRET}"},
    {"id": "second", "text": f"Xyz {SECRET}"},
]


@pytest.fixture(autouse=True)
def _a_parser_that_knows_no_xyz(monkeypatch: pytest.MonkeyPatch) -> None:
    def understand(constraint: Constraint) -> ParsedConstraint:
        parsed = parse(constraint)
        if constraint.text.startswith("Xyz"):
            return replace(parsed, status="needs_model", reason=WHY)
        return replace(parsed, status="understood", reason="")

    monkeypatch.setattr(setup, "parse", understand)


def test_it_is_refused_by_id_and_reason() -> None:
    """And told what to do, in no word of its text."""
    with pytest.raises(ConstraintNotUnderstoodError) as raised:
        check_understood(Policy.read({"constraints": ENTRIES}), has_model=False)

    error = raised.value
    assert error.reasons == {"first": WHY, "second": WHY}
    assert all(one in str(error) for one in ("first", "second", WHY, "llm="))
    assert "when_not_understood: withhold" in error.hint
    assert SECRET not in f"{error} {error!r} {error.reasons}"
    assert isinstance(error, PolicyError)


@pytest.mark.parametrize(
    ("policy", "has_model"),
    [
        ({"constraints": ENTRIES}, True),
        ({"constraints": ENTRIES, "when_not_understood": "withhold"}, False),
        ({"constraints": ENTRIES[:1]}, False),
        ({}, False),
    ],
)
def test_it_is_accepted_where_it_will_be_enforced(policy, has_model) -> None:
    """By a model, or by withholding what it holds for."""
    check_understood(Policy.read(policy), has_model=has_model)


def test_what_is_not_understood_can_be_asked() -> None:
    """Whatever the policy then says of it."""
    policy = Policy.read({"constraints": ENTRIES, "when_not_understood": "withhold"})

    assert not_understood(policy) == {"first": WHY, "second": WHY}
