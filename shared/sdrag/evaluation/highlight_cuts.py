"""
Cuts that turn their source around, and how many each mode lets through.

A case is a passage, a contiguous cut of it that satisfies the paper's property, and the
words outside the cut that the meaning hangs on. The cut is *accepted* when a highlight
holds the cut without those words. Negation, condition, attribution, exception and
quotation; English; written for this measure. Read the figure with that in mind: the
lists of governors and the cases have the same author.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from sdrag.highlight import CutAt, verify_highlights
from sdrag.vocabulary import Passage

__all__ = ["Cut", "accepted_cuts", "accepts", "load_cuts"]


@dataclass(frozen=True, slots=True)
class Cut:
    """
    A cut that turns its source around.

    Args:
        kind: What does it: negation, condition, attribution, exception, quotation.
        text: The passage.
        cut: The part that says something else than the whole.
        turn: The words that have to come along.
    """

    kind: str
    text: str
    cut: str
    turn: str


def load_cuts() -> list[Cut]:
    """Read the set that ships with the package."""
    source = files("sdrag.evaluation").joinpath("highlight_cuts.json")
    return [Cut(*case) for case in json.loads(source.read_text(encoding="utf-8"))]


def accepts(case: Cut, cut_at: CutAt) -> bool:
    """Say whether a mode lets the cut through without what governs it."""
    passage = Passage("case", case.text)
    return any(
        case.turn not in one.text
        for one in verify_highlights([case.cut], [passage], cut_at=cut_at)
    )


def accepted_cuts(cut_at: CutAt) -> dict[str, Any]:
    """Count the accepted cuts of the set, in all and by kind."""
    by_kind: dict[str, list[bool]] = {}
    for case in load_cuts():
        by_kind.setdefault(case.kind, []).append(accepts(case, cut_at))
    return {
        "accepted": sum(sum(found) for found in by_kind.values()),
        "of": sum(len(found) for found in by_kind.values()),
        "by_kind": {kind: sum(found) for kind, found in by_kind.items()},
    }
