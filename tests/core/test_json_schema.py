"""The JSON schema of a policy: editors say what `Policy.read` says."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from sdrag.errors import PolicyError
from sdrag.policy import Policy, Section, policy_schema

from ..support.tables import each_row

ROOT = Path(__file__).parents[2]
EXAMPLE = {"text": "a b", "hides": "a", "keeps": ["b"]}
VALID = [
    {},
    {"constraints": ["Remove names of witnesses"]},
    ["Remove names of witnesses", {"text": "Hide doses"}],
    {"constraints": [{"text": "Hide", "unless": [{"roles": "a", "n": 1}, {"n": [2]}]}]},
    {"constraints": [{"text": "Hide", "unless": {}}]},
    {"constraints": [{"text": "Hide doses", "where": {"ward": "north", "n": [1, 2]}}]},
    {"constraints": [{"text": "Hide doses", "unless": {"roles": ["physician"]}}]},
    {
        "constraints": [
            {
                "text": "Hide",
                "examples": [{"text": "a b", "hides": "a", "keeps": ["b"]}],
            }
        ]
    },
    {"disclosure": {"sensitivity": "high"}},
    {"disclosure": {"sensitivity": "low", "top_k": 2}},
    {"access": {"tenant_key": None}, "injection": {"action": "flag"}},
    {"staleness": None},
    {"linkage": {"weights": {"NAME": 0.9}, "resolution": {"meaning": False}}},
]
INVALID = [
    {"disclosur": {}},
    {"constraints": ["Remove names", ""]},
    {"constraints": [{"id": "a"}]},
    ["Remove names", ""],
    ["Remove names", 5],
    {"constraints": [{"text": "Hide", "unless": [{}]}]},
    {"constraints": [{"text": "Hide", "methd": "redact"}]},
    {"constraints": [{"text": "Hide", "method": "hide"}]},
    {"disclosure": {"bind_top_n": 0}},
    {"disclosure": {"sensitivity": 0.5}},
    {"disclosure": {"sensitivity": "lowest"}},
    {"injection": {"action": "ignore"}},
    {"linkage": {"chain_length": 9}},
]


def sections(parent: type[Section] = Section) -> list[type[Section]]:
    """Return every section of a policy, and the policy."""
    below = parent.__subclasses__()
    return [*below, *(one for section in below for one in sections(section))]


def accepts(policy: object) -> bool:
    return Draft202012Validator(policy_schema()).is_valid(policy)


def reads(policy: dict) -> bool:
    try:
        Policy.read(policy)
    except PolicyError:
        return False
    return True


def test_it_is_a_schema():
    """Of the draft that it names."""
    Draft202012Validator.check_schema(policy_schema())


@each_row("policy", VALID)
def test_what_can_be_read_is_accepted(policy):
    assert reads(policy)
    assert accepts(policy)


@each_row("policy", INVALID)
def test_what_cannot_be_read_is_not(policy):
    assert not reads(policy)
    assert not accepts(policy)


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("shared/**/policy*.yaml")), ids=lambda path: path.name
)
def test_the_policy_that_init_writes_is_accepted(path):
    assert accepts(yaml.safe_load(path.read_text(encoding="utf-8")))


@each_row("section", sections())
def test_every_key_says_what_it_means(section):
    """In the docstring under it, which an editor shows."""
    assert all(field.description for field in section.model_fields.values())
