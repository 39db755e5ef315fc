"""Nothing is released in silence: empty policies, reloads, files that are not there."""

from __future__ import annotations

import logging

import pytest

from sdrag.errors import PolicyError
from sdrag.pipeline import Engine
from sdrag.policy import Policy

from ..support.frameworks import BOTH, LangChain, LlamaIndex

EMPTY = {
    "nothing": "{}",
    "a list": "[]",
    "an empty list": "constraints: []",
    "a key alone": "constraints:",
    "an empty file": "",
    "with a guard": "constraints: []\ninjection: {}",
    "with a guard and a key alone": "constraints:\naccess: {}",
    "not meant": "allow_empty: false",
    "not meant with a list": "constraints: []\nallow_empty: false",
    "with metadata": "constraints: []\nmetadata: {allow: [source]}",
    "with languages": "constraints: []\nlanguages: [en, de]",
    "comments alone": "# constraints:\n#   - Remove names of witnesses\n",
    "all are commented out": "constraints:\n  # - Remove names of witnesses\n",
}
HOOKS = {
    LangChain: "SelectiveDisclosureCompressor",
    LlamaIndex: "SelectiveDisclosurePostprocessor",
}
TWO = "constraints:\n  - Remove names of witnesses\n  - Hide dates\n"


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
def test_a_policy_without_constraints_is_refused(text):
    """It would release everything, and a file is easily emptied."""
    with pytest.raises(PolicyError):
        Engine(Policy.parse(text))


def test_a_policy_of_guards_alone_is_one():
    """It has no list of constraints, and says what it does."""
    assert Engine(Policy.parse("injection: {}")).policy.guards == ("injection",)


@BOTH
def test_an_empty_policy_that_is_meant_is_warned_of_each_time(framework, caplog):
    """It says that it is meant, and an operator reads it in the log."""
    for _ in range(2):
        framework.package.RedactingTransformer({"allow_empty": True})
    warned = [r for r in caplog.records if "no text is withheld" in r.getMessage()]
    assert len(warned) == 2


@BOTH
def test_a_reload_tells_what_went(framework, caplog, tmp_path):
    """Both hashes and the ids of constraints."""
    path = tmp_path / "policy.yaml"
    path.write_text(TWO, encoding="utf-8")
    wrapper = getattr(framework.package, HOOKS[type(framework)])(policy=path)
    before = wrapper.policy_hash

    path.write_text(TWO.replace("  - Hide dates\n", ""), encoding="utf-8")
    with caplog.at_level(logging.INFO, "sdrag"):
        wrapper.reload()
    (record,) = caplog.records
    message = record.getMessage()
    assert before in message
    assert wrapper.policy_hash in message
    assert message.endswith("gone: c2.")
    assert "dates" not in message


def test_a_file_that_is_not_there_is_named_with_the_nearest(tmp_path):
    """A sentence that was taken for a path is not."""
    (tmp_path / "policy.yaml").write_text(TWO, encoding="utf-8")
    with pytest.raises(PolicyError) as told:
        Policy.read(tmp_path / "polcy.yaml")
    assert "polcy.yaml" in str(told.value)
    assert f"Did you mean {tmp_path / 'policy.yaml'}?" in str(told.value)
    for text in ("Remove the name of Robert Meyers", f"{TWO}# Meyers, as in a.yaml"):
        with pytest.raises(PolicyError) as told:
            Policy.read(text)
        assert "Meyers" not in str(told.value)
