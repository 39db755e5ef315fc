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
from sdrag.guardrails.injection.languages import rules

__all__ = ["PATTERNS", "find"]


def _compiled(
    patterns: dict[str, list[str]], parts: dict[str, str]
) -> dict[str, re.Pattern[str]]:
    """Compile patterns by name, with parts in place of their names."""
    return {
        name: re.compile(
            re.sub(r"@(\w+)@", lambda match: parts[match[1]], "|".join(listed))
        )
        for name, listed in patterns.items()
    }


_TABLE: dict[str, Any] = tomllib.loads(
    files("sdrag.guardrails.injection").joinpath("patterns.toml").read_text("utf-8")
)
_PLAIN = _compiled(rules(_TABLE["patterns"]), _TABLE["parts"])
_CIPHERED = _compiled(_TABLE["ciphered"], _TABLE["parts"])
PATTERNS = _PLAIN | _CIPHERED
"""The patterns by the name that a reason has for them."""


def find(text: str, *, ciphered: bool = False) -> Iterator[tuple[str, int, int]]:
    """
    Yield the name, start and end of every phrase that speaks to a model.

    Args:
        text: Folded, as `normalise.views` gives it.
        ciphered: It was written in a code that nobody reads at sight, where any order
            to act is one to a model.
    """
    for name, pattern in (PATTERNS if ciphered else _PLAIN).items():
        check_time()
        for match in pattern.finditer(text):
            yield name, match.start(), match.end()
