"""
Why something was withheld, dropped or flagged: every code, in plain words.

A `Decision` carries a short code and never a text. The tables say what each code means
and what to do about it: for the page `docs/reasons.md`, which is made from them, and
for the warnings of the wrappers, so that nobody is left guessing.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from sdrag.reasons.answer_reasons import ANSWERED, FAILED, HIGHLIGHTED
from sdrag.reasons.passage_reasons import (
    ACCESS,
    CONTRADICTED,
    FRESH,
    INJECTED,
    LEFT_OUT,
    RELEVANT,
    WITHHELD,
)
from sdrag.reasons.reason import Reason

__all__ = ["GROUPS", "REASONS", "WARNED", "Reason", "explain", "page"]

GROUPS: Mapping[str, Mapping[str, Reason]] = {
    "A passage was withheld, or sentences of it in doubt": WITHHELD,
    "A constraint was not applied": LEFT_OUT,
    "Access": ACCESS,
    "Staleness": FRESH,
    "Relevance": RELEVANT,
    "Injection": INJECTED,
    "Contradictions": CONTRADICTED,
    "After the answer": ANSWERED,
    "Highlight and summarize": HIGHLIGHTED,
    "Disclosure control failed": FAILED,
}
"""The codes, by what they are about."""

REASONS: Mapping[str, Reason] = dict(chain(*(own.items() for own in GROUPS.values())))
"""Every code that a `Decision` can carry."""

WARNED = frozenset(
    {
        *("no-principal", "authorizer-failed", "detector-failed", "not-understood"),
        "over-local-limit",
        *("model-failed", "model-timeout", "unreadable", "no-verdict"),
        *("highlighter-failed", "summarizer-failed", "score-failed", "scan-failed"),
        *FAILED,
    }
)
"""Codes that say that something has to be mended: wrappers warn of them."""


def explain(code: str) -> Reason | None:
    """
    Return what a code says.

    An order that was found in metadata or in disguise has that before its code, as in
    `metadata:base64:override`.
    """
    return REASONS.get(code) or REASONS.get(code.rpartition(":")[2])


def page() -> str:
    """Return the page `docs/reasons.md`."""
    lines = [
        "# Reasons",
        "",
        "Every decision carries a short code and no text. This page is made from",
        "`sdrag.reasons`: what each code says, and what to do about it. A code of the",
        "injection scan may have before it where the order was hidden, as in",
        "`metadata:base64:override`. Wrappers warn of the codes in bold, once each, on",
        "the logger `sdrag`.",
    ]
    for title, reasons in GROUPS.items():
        lines += ["", f"## {title}", "", "| code | what happened | what to do |"]
        lines += ["|---|---|---|"]
        for code, (happened, mend) in reasons.items():
            name = f"**`{code}`**" if code in WARNED else f"`{code}`"
            lines.append(f"| {name} | {happened} | {mend} |")
    return "\n".join(lines) + "\n"
