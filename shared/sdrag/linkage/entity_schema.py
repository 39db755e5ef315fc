"""
The entity schema of the insurance domain (CLAM, Table 4.1), and its replacement.

A type's weight says how severe its leak is. A domain brings its own table in the
policy, `linkage.weights`. Detectors have names of their own for the same things, so a
few synonyms are read as the table's types. A type that nobody has weighed counts
fully: what is not known to be harmless is treated as a direct identifier.
"""

from __future__ import annotations

from collections.abc import Mapping

from sdrag.policy import LinkageSection

__all__ = ["DIRECT", "WEIGHTS", "canonical_type", "weight_of", "weights_of"]

WEIGHTS: Mapping[str, float] = {
    "NAME": 1.00,
    "PATIENT_ID": 0.95,
    "ADDRESS": 0.90,
    "PHONE_NUMBER": 0.85,
    "EMAIL": 0.80,
    "MEDICAL_CONDITION": 0.85,
    "TREATMENT": 0.72,
    "NON_PERSONAL_ID": 0.80,
    "UNIQUE_FACT": 0.78,
    "BIRTHDATE": 0.75,
    "INDIRECT_IDENTIFIER": 0.70,
    "PROVIDER": 0.65,
    "EVENT_DATE": 0.60,
    "AGE": 0.55,
    "LOCATION": 0.55,
    "EVENT": 0.50,
    "DEMOGRAPHIC": 0.35,
}
"""Entity types and their risk weights, Table 4.1."""

DIRECT = frozenset({"NAME", "PATIENT_ID", "ADDRESS", "PHONE_NUMBER", "EMAIL"})
"""The direct identifiers of Table 4.1."""

_UNWEIGHED = 1.0
_SYNONYMS: Mapping[str, str] = {
    "PERSON": "NAME",
    "PER": "NAME",
    "EMAIL_ADDRESS": "EMAIL",
    "PHONE": "PHONE_NUMBER",
    "STREET_ADDRESS": "ADDRESS",
    "DATE": "EVENT_DATE",
    "DATETIME": "EVENT_DATE",
    "DATE_TIME": "EVENT_DATE",
    "TIME": "EVENT_DATE",
    "DATE_OF_BIRTH": "BIRTHDATE",
    "LOC": "LOCATION",
    "GPE": "LOCATION",
    "CITY": "LOCATION",
    "ORG": "PROVIDER",
    "ORGANIZATION": "PROVIDER",
    "ORGANISATION": "PROVIDER",
    "NRP": "DEMOGRAPHIC",
    "DEM": "DEMOGRAPHIC",
    "CODE": "NON_PERSONAL_ID",
    "ID": "NON_PERSONAL_ID",
    "MISC": "INDIRECT_IDENTIFIER",
    "TERM": "INDIRECT_IDENTIFIER",
    "CONDITION": "MEDICAL_CONDITION",
    "DOSE": "TREATMENT",
    "JOB_TITLE": "DEMOGRAPHIC",
    "NATIONALITY": "DEMOGRAPHIC",
    "RELATION": "DEMOGRAPHIC",
    "RELIGION": "DEMOGRAPHIC",
    "TITLE": "DEMOGRAPHIC",
    "USERNAME": "EMAIL",
    "ZIP_CODE": "LOCATION",
    "DURATION": "EVENT",
    "MONEY": "EVENT",
    "NUMBER": "EVENT",
    "QUANTITY": "EVENT",
}


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
