"""
Why something was withheld, dropped or flagged: every code, in plain words.

A `Decision` carries a short code and never a text. `reasons.toml` says what each code
means and what to do about it. The page `docs/reference/reasons.md` and the warnings of
the wrappers are made from it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple


class Reason(NamedTuple):
    """What happened, and what to do about it, in a sentence or two each."""

    happened: str
    mend: str
    warn: bool = False


_TABLES: dict[str, Any] = tomllib.loads(
    files("sdrag.privacy").joinpath("reasons.toml").read_text(encoding="utf-8")
)
GROUPS: Mapping[str, Mapping[str, Reason]] = {
    title: {code: Reason(**entry) for code, entry in _TABLES[name].items()}
    for name, title in _TABLES["titles"].items()
}
"""The codes, by what they are about."""

REASONS: Mapping[str, Reason] = {
    code: reason for codes in GROUPS.values() for code, reason in codes.items()
}
"""Every code that a `Decision` can carry."""

WARNED = frozenset(code for code, reason in REASONS.items() if reason.warn)
"""Codes for which somebody has to change something: wrappers warn of them."""

MODEL_FAILURES = frozenset(
    {
        "control-failed",
        "cut-off",
        "failed-model",
        "failed-modelreply",
        "failed-modeltimeout",
        "model-failed",
        "model-timeout",
        "no-verdict",
        "not-rephrased",
        "span-not-in-text",
        "unreadable",
    }
)
"""Reasons that are the failure of a model, and of nothing that was found."""


def explain(code: str) -> Reason | None:
    """
    Return what a code says.

    Instructions that were read in metadata or in an encoding have that before their
    code, as in `metadata:encoded:override`.
    """
    return REASONS.get(code) or REASONS.get(code.rpartition(":")[2])
