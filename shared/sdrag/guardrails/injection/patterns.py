"""
Phrases that speak to a model, found in linear time.

Trigger words alone prove nothing: "Can I ignore this warning?" is a question. So each
pattern of `patterns.toml` asks for a whole order: what to do *and* to what. Such are an
instruction that is to be disregarded, a role that is to be taken on, and an answer that
is to be changed. Gaps are counted in words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from sdrag.engine.deadlines import check_time

__all__ = ["PATTERNS", "find"]


def _compiled(table: dict[str, Any]) -> dict[str, re.Pattern[str]]:
    """Compile the patterns of a table, with its parts in place of their names."""
    parts: dict[str, str] = table["parts"]
    return {
        name: re.compile(
            re.sub(r"@(\w+)@", lambda match: parts[match[1]], "|".join(listed))
        )
        for name, listed in table["patterns"].items()
    }


PATTERNS = _compiled(
    tomllib.loads(
        files("sdrag.guardrails.injection").joinpath("patterns.toml").read_text("utf-8")
    )
)
"""The patterns by the name that a reason has for them."""


def find(text: str) -> Iterator[tuple[str, int, int]]:
    """
    Yield the name, start and end of every phrase that speaks to a model.

    Args:
        text: Folded, as `normalise.views` gives it.
    """
    for name, pattern in PATTERNS.items():
        check_time()
        for match in pattern.finditer(text):
            yield name, match.start(), match.end()
