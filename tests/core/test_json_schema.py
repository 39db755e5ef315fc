"""The JSON schema of a policy: editors say what `Policy.read` says."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from sdrag.errors import PolicyError
from sdrag.policy import Policy
from sdrag.policy.json_schema import described_keys, policy_schema, sections

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


@pytest.mark.parametrize("policy", VALID)
def test_what_can_be_read_is_accepted(policy):
    assert reads(policy)
    assert accepts(policy)


@pytest.mark.parametrize("policy", INVALID)
def test_what_cannot_be_read_is_not(policy):
    assert not reads(policy)
    assert not accepts(policy)


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("shared/**/policy*.yaml")), ids=lambda path: path.name
)
def test_the_policy_that_init_writes_is_accepted(path):
    assert accepts(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "section", [Policy, *sections()], ids=lambda section: section.__name__
)
def test_every_key_says_what_it_means(section):
    """In the docstring of its section, which names no other key."""
    assert described_keys(section).keys() == section.model_fields.keys()
