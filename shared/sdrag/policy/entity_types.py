"""The entity types of linkage: their weights, their roles, and other names for them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from sdrag.policy.sections import LinkageSection, Role

_TABLES = tomllib.loads(
    files(__package__).joinpath("entity_types.toml").read_text(encoding="utf-8")
)
WEIGHTS: Mapping[str, float] = _TABLES["weights"]
"""Entity types and their risk weights, Table 4.1."""

ROLES: Mapping[str, Role] = {
    name: role for role, names in _TABLES["roles"].items() for name in names
}
"""The roles of these types; a type of no role is a description."""

SYNONYMS: Mapping[str, str] = {
    name: type_ for type_, row in _TABLES["synonyms"].items() for name in row
}
"""What detectors call these types."""


def type_names(section: LinkageSection) -> frozenset[str]:
    """Return every type that a label of this policy may say."""
    return frozenset(
        {*WEIGHTS, *ROLES, *(section.weights or ()), *(section.roles or ())}
    )
