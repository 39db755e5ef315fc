"""Reasons: every code that a decision can carry is explained, in one table."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

from sdrag import errors
from sdrag.errors import SdragError
from sdrag.guardrails import citations, monitoring
from sdrag.guardrails.injection import patterns
from sdrag.highlight.verification import RefusalReason
from sdrag.privacy.reasons import GROUPS, REASONS, explain

from ..support.tables import each_row

ROOT = Path(__file__).parents[2]
PACKAGES = ("disclosure", "guardrails", "highlight", "linkage")
KEBAB = re.compile(r"[a-z]{2,}(?:-[a-z]+)+")
NO_CODES = {"check-digits", "e-mail", "utf-8"}
ERRORS = [
    var
    for var in vars(errors).values()
    if isinstance(var, type) and issubclass(var, SdragError)
]


def nodes_of(package: str) -> list[ast.AST]:
    """Parse a package, but for the parser of constraints: its words look like codes."""
    files = (ROOT / "shared" / "sdrag" / package).rglob("*.py")
    return [
        node
        for file in files
        if "constraint_parser" not in file.parts
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    ]


def test_every_code_in_the_source_is_explained() -> None:
    """What is passed as a reason, or looks like a code."""
    codes: set[object] = set()
    for package in PACKAGES:
        for node in nodes_of(package):
            match node:
                case ast.Call(func=ast.Name(id="Decision"), args=[_, _, _, reason]):
                    codes |= {
                        c.value for c in ast.walk(reason) if type(c) is ast.Constant
                    }
                case ast.Constant(value=str(word)) if package != "linkage":
                    codes |= {word} if KEBAB.fullmatch(word) else set()

    assert len(codes) > 40
    assert codes - REASONS.keys() - NO_CODES - {""} == set()


@each_row(
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


def test_a_code_says_where_an_instruction_was_hidden() -> None:
    """It is explained as the instruction is; nothing is made up for other words."""
    assert explain("metadata:base64:override-other") == REASONS["override-other"]
    assert explain("links:passage") == REASONS["links:passage"]
    assert explain("weather") is None


def test_a_code_has_one_meaning() -> None:
    """It stands in one group, and says in sentences what happened and what to do."""
    assert sum(map(len, GROUPS.values())) == len(REASONS)
    for code, reason in REASONS.items():
        for text in (reason.happened, reason.mend):
            assert text.endswith((".", '"')), code
            assert "|" not in text, code
