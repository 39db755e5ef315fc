"""The reference names all there is: keys, commands, public names, reason codes."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
import typer
import yaml

from benchmarks.tools.reference import DOCS, pages
from benchmarks.tools.reference_of_api import PACKAGES, SHARED
from benchmarks.tools.reference_of_policy import EXAMPLES, keys
from sdrag.cli.app import app
from sdrag.policy import Policy
from sdrag.reasons import REASONS

from .core.test_json_schema import sections

REFERENCE = DOCS / "reference"


@pytest.mark.parametrize(
    ("path", "text"),
    pages().items(),
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_what_is_made_from_the_code_is_up_to_date(path, text):
    """`python benchmarks/tools/reference.py` writes all of it anew."""
    assert path.read_text(encoding="utf-8") == text


def test_every_key_of_the_policy_is_described():
    """Each key of each section has a heading, a type, a default and an example."""
    page = (REFERENCE / "policy.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^##+ `(?:.*\.)?(\w+)`$", page, re.MULTILINE))

    known = {key for section in sections() for key in section.model_fields}
    assert described == known
    for _, _, found in keys():
        for key in found:
            assert key.meaning, key.path
            assert f"### `{key.path}`\n" in page


def test_the_examples_of_the_keys_are_a_policy():
    """`every-key.yaml` is read without an error, and each value says something new."""
    assert Policy.read(EXAMPLES).guards
    same = [
        key.path
        for _, _, found in keys()
        for key in found
        if key.default is not None and yaml.safe_load(key.default) == key.example
    ]
    assert same == []


def test_every_command_and_option_is_described():
    page = (REFERENCE / "commands.md").read_text(encoding="utf-8")
    headed = re.compile(r"^## `([\w -]+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    parts = dict(headed.findall(page))
    seen = set()

    def compare(name, command):
        seen.add(name)
        for item in command.params:
            shown = item.metavar if item.param_type_name == "argument" else None
            for option in [shown] if shown else item.opts:
                assert f"| `{option}" in parts[name], (name, option)
        for inner, found in getattr(command, "commands", {}).items():
            compare(f"{name} {inner}", found)

    compare("sdrag", typer.main.get_command(app))
    assert parts.keys() == seen


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_described(package):
    """Each has an entry that mkdocstrings fills in, and a docstring to fill it with."""
    page = (REFERENCE / "api" / f"{package}.md").read_text(encoding="utf-8")
    module = import_module(package)

    own = {SHARED.rpartition(".")[2]} if package == "sdrag" else set()
    assert set(re.findall(r"heading: (\w+)", page)) == {*module.__all__, *own}
    assert all(getattr(module, name).__doc__ for name in module.__all__)


def test_every_reason_code_is_described():
    page = (DOCS / "reasons.md").read_text(encoding="utf-8")

    assert all(f"`{code}`" in page for code in REASONS)
