"""For whom and for what a constraint holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdrag.vocabulary import Constraint, Principal

__all__ = ["applies", "binds"]


def applies(constraint: Constraint, metadata: Mapping[str, Any]) -> bool:
    """Say whether a constraint's `where` matches a passage's metadata."""
    return all(
        _meets(metadata.get(key), allowed) for key, allowed in constraint.where.items()
    )


def binds(constraint: Constraint, principal: Principal | None) -> bool:
    """Say whether a constraint binds a principal; without one, everything binds."""
    if principal is None:
        return True
    return not any(
        _meets(_attribute(principal, key), lifted)
        for key, lifted in constraint.unless.items()
    )


def _meets(value: Any, allowed: tuple[Any, ...]) -> bool:
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(item in allowed for item in value)
    return value in allowed


def _attribute(principal: Principal, key: str) -> Any:
    if key in {"id", "tenant", "roles", "level"}:
        return getattr(principal, key)
    return principal.attributes.get(key)
