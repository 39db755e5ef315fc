"""
For whom and for what a constraint holds.

Doubt applies a rule. So a constraint with a `where` holds for every passage of which
the metadata does not say otherwise: a missing or empty value says nothing, and neither
does one that cannot be compared with what is listed. `unless` lifts a constraint, so
there doubt lifts nothing, and values are compared as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sdrag.text.folding import fold_text
from sdrag.vocabulary import Constraint, Principal

if TYPE_CHECKING:
    from sdrag.policy.document import Policy

__all__ = ["applies", "binds", "metadata_of_any"]

_COLLECTIONS = (list, tuple, set, frozenset)
_folded = lru_cache(maxsize=1024)(fold_text)
"""For the policy's own words only; those of passages are not kept."""


def applies(constraint: Constraint, metadata: Mapping[str, Any]) -> bool:
    """
    Say whether a constraint holds for a passage with this metadata.

    It does not hold where a key of its `where` has a value that can be compared with
    the listed ones and equals none of them. Strings are compared folded, numbers as
    numbers; of a list, one item is enough.
    """
    skip = constraint.where_missing == "skip"
    return all(
        _holds(metadata.get(key), listed, skip=skip)
        for key, listed in constraint.where.items()
    )


def binds(constraint: Constraint, principal: Principal | None) -> bool:
    """Say whether a constraint binds a principal; without one, everything binds."""
    if principal is None:
        return True
    return not any(
        _lifts(_attribute(principal, key), lifted)
        for key, lifted in constraint.unless.items()
    )


def metadata_of_any(policy: Policy) -> dict[str, Any]:
    """
    Return metadata for which every constraint holds.

    For text of unknown origin: whatever may be forbidden in it is.
    """
    values: dict[str, Any] = {}
    for rule in policy.rules:
        for key, listed in rule.where.items():
            values.setdefault(key, []).extend(listed)
    return values


def _holds(value: Any, listed: Iterable[Any], *, skip: bool) -> bool:
    if isinstance(value, _COLLECTIONS):
        items = (_item_holds(item, listed, skip=skip) for item in value)
        return any(items) if value else not skip
    return _item_holds(value, listed, skip=skip)


def _item_holds(value: Any, listed: Iterable[Any], *, skip: bool) -> bool:
    kind = _kind(value)
    same = [one for one in listed if _kind(one) == kind]
    if kind == "string":
        text = fold_text(str.__str__(value))
        if text in map(_folded, same):
            return True
        return not same if text else not skip
    if kind:
        return value in same or not same
    return value is not None or not skip


def _kind(value: Any) -> str:
    """Return what a value can be compared with; nothing for what it cannot be."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    is_number = isinstance(value, (int, float)) and value == value  # noqa: PLR0124 -- NaN
    return "number" if is_number else ""


def _lifts(value: Any, lifted: tuple[Any, ...]) -> bool:
    if isinstance(value, _COLLECTIONS):
        return any(item in lifted for item in value)
    return value in lifted


def _attribute(principal: Principal, key: str) -> Any:
    if key in {"id", "tenant", "roles", "level"}:
        return getattr(principal, key)
    return principal.attributes.get(key)
