"""Are the numbers, units, dates and times of a claim in the evidence?"""

from __future__ import annotations

from collections.abc import Sequence

from sdrag.guardrails.agreement.binding import Item, misplaced
from sdrag.guardrails.agreement.quantities import Quantity, periods, quantities
from sdrag.guardrails.agreement.tokens import TokenText

__all__ = ["bounds_differ", "figures_differ", "missing_figures"]

_KINDS = ({"number"}, {"day", "month", "year", "weekday"}, {"time"}, {"ordinal"})
_SUMS = {2.0: {"both", "pair", "couple", "twin", "either", "neither", "twice"}}
_SUMS |= {0.5: {"half"}, 50.0: {"half"}, 1.0: {"a", "an", "single", "only", "the"}}
_SHARE = 0.25
"""The share of a claim's words that shows a figure to be another thing's."""
_COMPATIBLE = {
    "": {"", "least", "most", "over", "under"},
    "least": {"", "least", "over"},
    "most": {"", "most", "under"},
    "over": {"over", "least"},
    "under": {"under", "most"},
}
"""The bounds that evidence may have, by the bound of the claim."""


def figures_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether a figure of the claim belongs to something else."""
    stated, known = quantities(claim), quantities(evidence)
    if not _often_enough(claim, evidence):
        return True
    if any(_counted_otherwise(one, known) for one in stated):
        return True
    return any(_misplaced(claim, evidence, stated, known, kinds) for kinds in _KINDS)


def missing_figures(claim: TokenText, evidence: TokenText) -> frozenset[int]:
    """Return where in the claim the figures are that the evidence lacks."""
    known = quantities(evidence)
    return frozenset(
        one.at for one in quantities(claim) if not _stands(one, known, evidence)
    )


def _counted_otherwise(one: Quantity, known: Sequence[Quantity]) -> bool:
    """Say whether the evidence counts the same things, and never so many."""
    if one.kind != "number" or one.measured or not one.unit:
        return False
    counted = [
        other for other in known if other.kind == "number" and not other.measured
    ]
    return any(other.unit == one.unit for other in counted) and not any(
        other.value == one.value and other.unit in {one.unit, ""} for other in counted
    )


def _often_enough(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether what the claim says about frequency is in the evidence."""
    stated, known = periods(claim), periods(evidence)
    return not known or stated <= known


def bounds_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether a number is the least in one text and the most in the other."""
    known = quantities(evidence)
    return any(
        matching and not any(_bounded(one, other) for other in matching)
        for one in quantities(claim)
        if (matching := [other for other in known if _equal(one, other)])
    )


def _bounded(one: Quantity, other: Quantity) -> bool:
    return other.bound in _COMPATIBLE[one.bound]


def _stands(one: Quantity, known: Sequence[Quantity], evidence: TokenText) -> bool:
    if any(_equal(one, other) for other in known):
        return True
    words = {token.text for token in evidence}
    if one.kind == "number" and not one.measured and isinstance(one.value, float):
        return bool(_SUMS.get(one.value, set()) & words)
    return one.kind == "ordinal" and not any(other.kind == "ordinal" for other in known)


def _equal(one: Quantity, other: Quantity) -> bool:
    """Say whether two figures are the same; a day holds its month."""
    if one.kind == "month" and other.kind == "day" and isinstance(other.value, tuple):
        return one.value == other.value[0]
    if {one.kind, other.kind} == {"number", "year"}:
        return one.value == other.value
    if one.kind != other.kind or one.value != other.value:
        return False
    if one.measured and other.measured:
        return one.unit == other.unit
    return not (one.measured or other.measured) or not (one.unit and other.unit)


def _misplaced(
    claim: TokenText,
    evidence: TokenText,
    stated: Sequence[Quantity],
    known: Sequence[Quantity],
    kinds: set[str],
) -> bool:
    """Say whether the claim's words belong to another figure of the same kind."""
    own = [one for one in stated if one.kind in kinds]
    if not own:
        return False
    items = [
        Item(other.at, other.to, any(_equal(one, other) for one in own))
        for other in known
        if other.kind in kinds and any(_rivals(one, other) for one in own)
    ]
    inside = {at for one in own for at in range(one.at, one.to)}
    words = [
        token.base
        for at, token in enumerate(claim)
        if token.content and at not in inside and token.text.isalpha()
    ]
    return misplaced(words, evidence, items, _SHARE)


def _rivals(one: Quantity, other: Quantity) -> bool:
    """Say whether two numbers could be mistaken for each other."""
    if one.kind != "number":
        return one.kind == other.kind
    if not one.unit or (one.measured != other.measured and other.unit):
        return False
    return other.unit in {one.unit, ""} or _equal(one, other)
