"""`unless`: whom a constraint does not bind, by all attributes of an alternative."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest

from sdrag.errors import PolicyError
from sdrag.policy import Policy, binds
from sdrag.vocabulary import Constraint, Principal

from ..support.tables import each_row


class Role(StrEnum):
    JUDGE = "judge"


def judge(tenant: str | None = "north", **fields: Any) -> Principal:
    return Principal("ann", tenant=tenant, roles=frozenset({"judge"}), **fields)


BOTH = {"roles": ["judge", "auditor"], "tenant": ["north"]}
EITHER = [{"roles": ["judge"], "tenant": "north"}, {"id": "root"}]


@each_row(
    "unless, principal, bound",
    [
        (BOTH, None, True),
        (BOTH, Principal("ann"), True),
        (BOTH, judge(), False),
        (BOTH, judge("south"), True),
        (BOTH, judge(None), True),
        (BOTH, judge("North"), True),
        (BOTH, judge("north,south"), True),
        (BOTH, Principal("ann", "north", frozenset({"clerk"})), True),
        (BOTH, Principal("ann", "north", frozenset({"clerk", "auditor"})), False),
        (BOTH, Principal("ann", "north", frozenset({"Judge"})), True),
        (BOTH, Principal("ann", "north", frozenset({Role.JUDGE})), False),
        (BOTH, Principal("ann", "north", attributes={"roles": "judge"}), True),
        (EITHER, judge(), False),
        (EITHER, judge("south"), True),
        (EITHER, Principal("root"), False),
        (EITHER, Principal("ann", "north"), True),
        (EITHER, None, True),
        ({"roles": ["judge"], "level": [3]}, judge(level=2), True),
        ({"roles": ["judge"], "ward": ["a"]}, judge(), True),
        ({"roles": ["judge"], "ward": ["a"]}, judge(attributes={"ward": "a"}), False),
        ({"roles": ["judge"], "ward": "a"}, judge(attributes={"ward": ["b"]}), True),
        ({"level": [1]}, Principal("ann", level=1), False),
        ({"level": [1]}, Principal("ann", level=True), True),
        ({"level": [1]}, Principal("ann", level=1.0), True),
        ({"clearance": [1]}, judge(attributes={"clearance": 1}), False),
        ({"clearance": [1]}, judge(attributes={"clearance": True}), True),
        ({"clearance": [1]}, judge(attributes={"clearance": 1.0}), True),
        ({"clearance": [1]}, judge(attributes={"clearance": "1"}), True),
        ({"clearance": [1]}, judge(attributes={"clearance": [True, 1.0]}), True),
        ({"clearance": [1]}, judge(attributes={"clearance": (2, 1)}), False),
        ({"clearance": [True]}, judge(attributes={"clearance": 1}), True),
        ({"clearance": [True]}, judge(attributes={"clearance": True}), False),
        ({"clearance": [0]}, judge(attributes={"clearance": False}), True),
        ({"clearance": [1.0]}, judge(attributes={"clearance": 1}), True),
        ({"clearance": ["1"]}, judge(attributes={"clearance": 1}), True),
        ({}, judge(), True),
        ([], judge(), True),
    ],
)
def test_unless(unless, principal, bound):
    """All attributes of an alternative lift, compared by type and value."""
    (rule,) = Policy.read({"constraints": [{"text": "a", "unless": unless}]}).rules
    assert binds(rule, principal) is bound


@each_row("unless", [{"level": (1,)}, [{"level": (1,)}], {}, [{}], []])
def test_unless_of_a_constraint_that_is_made_in_code(unless):
    """A mapping is one alternative, and an empty one lifts nothing."""
    rule = Constraint("c", "a", unless=unless)

    assert binds(rule, Principal("ann", level=1)) is not any(unless)


@each_row("unless", [[{}], [{"roles": "judge"}, {}], "judge", ["judge"]])
def test_an_alternative_names_an_attribute(unless):
    """One that names none would lift the constraint for everybody."""
    with pytest.raises(PolicyError) as raised:
        Policy.read({"constraints": [{"text": "a", "unless": unless}]})

    assert raised.value.key.startswith("constraints.0.unless")
