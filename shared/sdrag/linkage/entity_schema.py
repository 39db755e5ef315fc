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
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib.resources import files

from sdrag.errors import UsageError
from sdrag.policy import LinkageSection
from sdrag.policy.sections import Role

__all__ = [
    "DIRECT",
    "ROLES",
    "WEIGHTS",
    "Schema",
    "canonical_type",
    "weight_of",
    "weights_of",
]

_TABLES = tomllib.loads(
    files(__package__).joinpath("entity_schema.toml").read_text(encoding="utf-8")
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
class Schema(Mapping[str, float]):
    """
    The types in force; a mapping from type to weight.

    Args:
        weights: By type, from 0 to 1.
        roles: By type; those of Table 4.1 need not be repeated.
        default: The weight of any other type; `None` makes it an error.
        least: Of what a detector is less sure is left out.
        apart: Types that no plan may mask, so no other type is joined with them.
    """

    weights: Mapping[str, float]
    roles: Mapping[str, Role]
    default: float | None = _DEFAULT
    least: float = 0.0
    apart: AbstractSet[str] = frozenset()

    def __getitem__(self, name: str) -> float:
        return self.weights[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.weights)

    def __len__(self) -> int:
        return len(self.weights)

    def role(self, name: str) -> Role:
        """Return how values of a type are compared."""
        return self.roles.get(name) or ROLES.get(name, "description")


def weights_of(settings: LinkageSection) -> Schema:
    """Return the types in force, with their weights."""
    weights = WEIGHTS if settings.weights is None else settings.weights
    default, least = settings.default_weight, settings.min_confidence
    apart = frozenset(settings.unmaskable)
    return Schema(weights, settings.roles or {}, default, least, apart)


def canonical_type(name: str, weights: Mapping[str, float]) -> str:
    """Return the schema's name for a type; the given one, upper case, where none is."""
    upper = name.strip().upper()
    if upper in weights:
        return upper
    synonym = _SYNONYMS.get(upper, upper)
    if synonym in weights:
        return synonym
    return _of_same_role(synonym, weights) or upper


def _of_same_role(name: str, weights: Mapping[str, float]) -> str | None:
    """Return the one type of another domain that has the role of a type of ours."""
    if not isinstance(weights, Schema) or name not in ROLES:
        return None
    alike = [other for other in weights if weights.role(other) == ROLES[name]]
    return alike[0] if len(alike) == 1 else None


def weight_of(name: str, weights: Mapping[str, float]) -> float:
    """
    Return a type's weight, from 0 to 1.

    Raises:
        UsageError: It has none, and the policy has no weight for such types.
    """
    if name in weights:
        return weights[name]
    default = weights.default if isinstance(weights, Schema) else _DEFAULT
    if default is None:
        # A model may call anything a type: only names that are known may be shown.
        shown = (
            f"type {name!r}" if name in {*ROLES, *_SYNONYMS} else "type that was found"
        )
        raise UsageError(
            f"The {shown} has no weight.",
            hint="Give it one in `linkage.weights`, or set `linkage.default_weight`.",
        )
    return default
