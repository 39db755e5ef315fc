"""The JSON schema of a policy: editors say what `Policy.read` says."""

from __future__ import annotations

from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

from sdrag.errors import PolicyError
from sdrag.policy import Policy, Section, policy_schema

from ..support.tables import each_row

ROOT = Path(__file__).parents[2]
VALID = [
    {},
    ["Remove names of witnesses", {"text": "Hide doses"}],
    {"constraints": [{"text": "Hide", "unless": [{"roles": "a", "n": 1}, {"n": [2]}]}]},
    {"constraints": [{"text": "Hide", "unless": {}}]},
    {"constraints": [{"text": "Hide doses", "where": {"ward": "north", "n": [1, 2]}}]},
    {"constraints": [{"text": "Hide", "examples": [{"text": "a b", "hides": "a"}]}]},
    {"disclosure": {"sensitivity": "low", "top_k": 2}},
    {"access": {"tenant_key": None}, "injection": {"action": "flag"}},
    {"staleness": None},
    {"linkage": {"weights": {"NAME": 0.9}, "resolution": {"meaning": False}}},
]
INVALID = [
    {"disclosur": {}},
    {"constraints": ["Remove names", ""]},
    {"constraints": [{"id": "a"}]},
    ["Remove names", 5],
    {"constraints": [{"text": "Hide", "unless": [{}]}]},
    {"constraints": [{"text": "Hide", "methd": "redact"}]},
    {"constraints": [{"text": "Hide", "method": "hide"}]},
    {"disclosure": {"bind_top_n": 0}},
    {"disclosure": {"sensitivity": 0.5}},
    {"linkage": {"chain_length": 9}},
]


def sections(parent: type[Section] = Section) -> list[type[Section]]:
    """Return every section of a policy, and the policy."""
    below = parent.__subclasses__()
    return [*below, *(inner for section in below for inner in sections(section))]


def reads(policy: object) -> bool:
    try:
        Policy.read(policy)
    except PolicyError:
        return False
    return True


@each_row(
    "policy, expected",
    [(policy, True) for policy in VALID] + [(policy, False) for policy in INVALID],
)
def test_the_schema_accepts_what_can_be_read(policy, expected):
    assert reads(policy) is expected
    assert Draft202012Validator(policy_schema()).is_valid(policy) is expected


def test_the_policy_that_init_writes_is_accepted():
    schema = policy_schema()
    Draft202012Validator.check_schema(schema)
    files = list(ROOT.glob("shared/**/policy*.yaml"))

    assert files
    for path in files:
        policy = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert Draft202012Validator(schema).is_valid(policy), path.name


def test_every_key_says_what_it_means():
    """In the docstring under it, which an editor shows."""
    assert not [
        f"{section.__name__}.{name}"
        for section in sections()
        for name, field in section.model_fields.items()
        if not field.description
    ]
