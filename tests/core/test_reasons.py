"""Reasons: every code that a decision can carry is explained, in one table."""

from __future__ import annotations

import ast
import re
from itertools import chain
from pathlib import Path
from typing import get_args

import pytest

from sdrag import errors
from sdrag.errors import SdragError
from sdrag.guardrails import citations, monitoring
from sdrag.guardrails.injection import patterns
from sdrag.highlight.verification import RefusalReason
from sdrag.reasons import GROUPS, REASONS, WARNED, explain

ROOT = Path(__file__).parents[2]
PACKAGES = [
    ROOT / "shared" / "sdrag" / name
    for name in ("disclosure", "guardrails", "highlight", "linkage")
]
PLACES = {
    "Decision": 3,
    "Refusal": 1,
    "Suspicion": 1,
    "decline": 1,
    "declined": 2,
    "doubt": 2,
    "dropped": 2,
    "note": 1,
    "withheld": 1,
}
"""Which argument of a call is a code, by the name of what is called."""
KEBAB = re.compile(r"[a-z]{2,}(?:-[a-z]+)+")  # `e-mail` is a word
NO_CODES = {"check-digits", "utf-8"}
WORDS_OF_CONSTRAINTS = "constraint_parser"
"""A package full of words that only look like codes."""
ERRORS = [
    var
    for var in vars(errors).values()
    if isinstance(var, type) and issubclass(var, SdragError)
]


def in_packages(*, under: list[Path]) -> list[ast.AST]:
    files = chain.from_iterable(folder.rglob("*.py") for folder in under)
    trees = [
        ast.parse(file.read_text(encoding="utf-8"))
        for file in files
        if WORDS_OF_CONSTRAINTS not in file.parts
    ]
    return [node for tree in trees for node in ast.walk(tree)]


def words_of(node: ast.AST) -> set[str]:
    """Return the strings that an argument can be, of both sides of an `if`."""
    if isinstance(node, ast.IfExp):
        return words_of(node.body) | words_of(node.orelse)
    plain = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return {node.value} - {""} if plain else set()


def called(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def codes_in_calls(node: ast.Call) -> set[str]:
    place = PLACES.get(called(node))
    found = set()
    if place is not None and len(node.args) > place:
        found |= words_of(node.args[place])
    if called(node) != "Finding":
        for keyword in node.keywords:
            if keyword.arg == "reason":
                found |= words_of(keyword.value)
    return found


def codes_assigned(node: ast.Assign) -> set[str]:
    names = {
        getattr(target, "id", getattr(target, "attr", "")) for target in node.targets
    }
    return words_of(node.value) if names & {"reason", "doubt"} else set()


def test_every_code_in_the_source_is_explained() -> None:
    """A code that is passed as one, assigned as one, or merely looks like one."""
    found: set[str] = set()
    for node in in_packages(under=PACKAGES):
        if isinstance(node, ast.Call):
            found |= codes_in_calls(node)
        elif isinstance(node, ast.Assign):
            found |= codes_assigned(node)
    looking = {
        node.value
        for node in in_packages(under=PACKAGES[:3])
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and KEBAB.fullmatch(node.value)
    }

    assert len(found | looking) > 40
    assert sorted((found | looking) - REASONS.keys() - NO_CODES) == []


@pytest.mark.parametrize(
    "codes",
    [
        set(get_args(RefusalReason)),
        set(get_args(citations.Fault)),
        {f"{fault}-unchecked" for fault in get_args(citations.Fault)},
        set(patterns.listed_patterns(ciphered=True)),
        {
            f"{kind}:{origin}"
            for kind in get_args(monitoring.Kind)
            for origin in ("passage", "unknown")
        },
        {f"failed-{item.__name__.removesuffix('Error').lower()}" for item in ERRORS},
    ],
)
def test_codes_that_are_made_of_something_are_explained(codes: set[str]) -> None:
    """Of the rules of a package, or of the name of an error."""
    assert codes - REASONS.keys() == set()


@pytest.mark.parametrize(
    ("code", "known_as"),
    [
        ("override", "override"),
        ("base64:override", "override"),
        ("metadata:base64:override-other", "override-other"),
        ("links:passage", "links:passage"),
    ],
)
def test_a_code_says_where_an_order_was_hidden(code: str, known_as: str) -> None:
    """It is explained as the order is."""
    assert explain(code) == REASONS[known_as]


def test_what_is_no_code_is_not_explained() -> None:
    """Nothing is made up for it."""
    assert explain("weather") is None


def test_a_code_has_one_meaning() -> None:
    """It stands in one group, and says in sentences what happened and what to do."""
    assert sum(map(len, GROUPS.values())) == len(REASONS)
    for code, said in REASONS.items():
        assert all(text.endswith((".", '"')) and "|" not in text for text in said), code


def test_wrappers_warn_of_codes_that_exist() -> None:
    """A cause that is warned of is explained."""
    assert REASONS.keys() >= WARNED
