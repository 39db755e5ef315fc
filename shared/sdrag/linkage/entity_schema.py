"""
The entity schema of the insurance domain (CLAM, Table 4.1), and its replacement.

A type's weight says how severe its leak is. A domain brings its own table in the
policy, `linkage.weights`. Detectors have names of their own for the same things, so a
few synonyms are read as the table's types. A type that nobody has weighed counts
fully: what is not known to be harmless is treated as a direct identifier.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files

from sdrag.policy import LinkageSection

__all__ = ["DIRECT", "WEIGHTS", "canonical_type", "weight_of", "weights_of"]

_TABLES = tomllib.loads(
    files(__package__).joinpath("entity_schema.toml").read_text(encoding="utf-8")
)
WEIGHTS: Mapping[str, float] = _TABLES["weights"]
"""Entity types and their risk weights, Table 4.1."""

DIRECT = frozenset({"NAME", "PATIENT_ID", "ADDRESS", "PHONE_NUMBER", "EMAIL"})
"""The direct identifiers of Table 4.1."""

_UNWEIGHED = 1.0
_SYNONYMS = {name: type_ for type_, row in _TABLES["synonyms"].items() for name in row}


def weights_of(settings: LinkageSection) -> Mapping[str, float]:
    """Return the table of weights in force."""
    return WEIGHTS if settings.weights is None else settings.weights


def canonical_type(name: str, weights: Mapping[str, float]) -> str:
    """Return the table's name for a type; the given one, upper case, where none is."""
    upper = name.strip().upper()
    if upper in weights:
        return upper
    synonym = _SYNONYMS.get(upper, upper)
    return synonym if synonym in weights else upper


def weight_of(name: str, weights: Mapping[str, float]) -> float:
    """Return a type's weight, from 0 to 1."""
    return weights.get(name, _UNWEIGHED)
