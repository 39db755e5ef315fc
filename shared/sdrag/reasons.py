"""
Why something was withheld, dropped or flagged: every code, in plain words.

A `Decision` carries a short code and never a text. `reasons.toml` says what each code
means and what to do about it. The page `docs/reasons.md` and the warnings of the
wrappers are made from it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

__all__ = ["GROUPS", "REASONS", "WARNED", "Reason", "explain"]


class Reason(NamedTuple):
    """
    What a code says.

    Args:
        happened: What happened, in one sentence.
        mend: What to do about it, in one or two.
    """

    happened: str
    mend: str


_TABLES: dict[str, Any] = tomllib.loads(
    files("sdrag").joinpath("reasons.toml").read_text(encoding="utf-8")
)
GROUPS: Mapping[str, Mapping[str, Reason]] = {
    title: {
        code: Reason(entry["happened"], entry["mend"])
        for code, entry in _TABLES[name].items()
    }
    for name, title in _TABLES["titles"].items()
}
"""The codes, by what they are about."""

REASONS: Mapping[str, Reason] = {
    code: reason for codes in GROUPS.values() for code, reason in codes.items()
}
"""Every code that a `Decision` can carry."""

WARNED = frozenset(
    code
    for name in _TABLES["titles"]
    for code, entry in _TABLES[name].items()
    if entry.get("warn", False)
)
"""Codes for which somebody has to change something: wrappers warn of them."""


def explain(code: str) -> Reason | None:
    """
    Return what a code says.

    An order that was found in metadata or in disguise has that before its code, as in
    `metadata:base64:override`.
    """
    return REASONS.get(code) or REASONS.get(code.rpartition(":")[2])
