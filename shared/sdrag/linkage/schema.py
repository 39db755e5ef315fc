"""
The entity schema of the insurance domain (CLAM, Table 4.1), and its replacement.

A type has a weight, which says how severe its leak is, and a role, which says how its
values are compared: as names, numbers, dates, descriptions. A domain brings its own
types in the policy, `linkage.weights` and `linkage.roles`. Detectors have names of
their own for the same things, so a few synonyms are read as the table's types. Where a
policy has not the type but exactly one of the same role, it is read as that one.

A type that nobody has weighed counts `linkage.default_weight`; where the policy says
null there, it is an error.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from importlib.resources import files

from sdrag.errors import UsageError
from sdrag.policy import LinkageSection
from sdrag.policy.sections import Role

__all__ = [
    "DIRECT",
    "ROLES",
    "WEIGHTS",
    "Schema",
    "schema_of",
]

_TABLES = tomllib.loads(
    files(__package__).joinpath("schema.toml").read_text(encoding="utf-8")
)
WEIGHTS: Mapping[str, float] = _TABLES["weights"]
"""Entity types and their risk weights, Table 4.1."""

ROLES: Mapping[str, Role] = {
    name: role for role, names in _TABLES["roles"].items() for name in names
}
"""The roles of these types; a type of no role is a description."""

DIRECT = frozenset({"NAME", "PATIENT_ID", "ADDRESS", "PHONE_NUMBER", "EMAIL"})
"""The direct identifiers of Table 4.1."""

_DEFAULT = LinkageSection().default_weight
_SYNONYMS: Mapping[str, str] = {
    name: type_ for type_, row in _TABLES["synonyms"].items() for name in row
}


@dataclass(frozen=True, slots=True)
class Schema:
    """
    The types in force.

    Args:
        weights: By type, from 0 to 1.
        roles: By type; those of Table 4.1 need not be repeated.
        default: The weight of any other type; `None` makes it an error.
        least: Of what a detector is less sure is left out.
        apart: Types that no plan may mask, so no other type is joined with them.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    roles: Mapping[str, Role] = field(default_factory=dict)
    default: float | None = _DEFAULT
    least: float = 0.0
    apart: AbstractSet[str] = frozenset()

    def role(self, name: str) -> Role:
        """Return how values of a type are compared."""
        return self.roles.get(name) or ROLES.get(name, "description")

    def pool(self, name: str) -> str:
        """Return the name of the pool of types with which a type's forms are joined."""
        role = self.role(name)
        if role == "term" or name in self.apart:
            return name
        return "place" if role == "organisation" else role

    def weight(self, name: str) -> float:
        """
        Return a type's weight, from 0 to 1.

        Raises:
            UsageError: It has none, and the policy has no weight for such types.
        """
        if name in self.weights:
            return self.weights[name]
        if self.default is not None:
            return self.default
        # A model may call anything a type: only names that are known may be shown.
        known = name in ROLES or name in _SYNONYMS
        raise UsageError(
            f"A type that was found has no weight{f': {name}' if known else ''}.",
            hint="Give it one in `linkage.weights`, or set `linkage.default_weight`.",
        )

    def canonical(self, name: str) -> str:
        """Return the schema's name for a type; the given one in capitals, if none."""
        upper = name.strip().upper()
        synonym = _SYNONYMS.get(upper, upper)
        for known in (upper, synonym):
            if known in self.weights:
                return known
        role = ROLES.get(synonym)
        alike = [other for other in self.weights if role and self.role(other) == role]
        return alike[0] if len(alike) == 1 else upper


def schema_of(settings: LinkageSection) -> Schema:
    """Return the types in force."""
    weights = WEIGHTS if settings.weights is None else settings.weights
    default, least = settings.default_weight, settings.min_confidence
    apart = frozenset(settings.unmaskable)
    return Schema(weights, settings.roles or {}, default, least, apart)
