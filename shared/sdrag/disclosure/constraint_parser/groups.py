"""Groups of types that are asked for together, by the names that tables use."""

from __future__ import annotations

from collections.abc import Mapping

from sdrag.detectors.tagger import IDENTIFYING

__all__ = ["GROUPS"]

_CONTACTS = ("PHONE_NUMBER", "EMAIL_ADDRESS", "ADDRESS", "USERNAME")
_PLACES = ("ADDRESS", "LOCATION", "ZIP_CODE", "COORDINATES")
_CODES = ("CODE", "IBAN_CODE", "CREDIT_CARD", "US_SSN", "NUMBER", "ZIP_CODE")
_PERSONAL = (
    *("PERSON", "USERNAME", "AGE", "DATE", "NATIONALITY", "RELIGION", "ORIENTATION"),
    *("APPEARANCE", "EDUCATION", "JOB_TITLE", "RELATION", "CONDITION", "TREATMENT"),
    *("PHONE_NUMBER", "EMAIL_ADDRESS", "IP_ADDRESS", "URL", "DOMAIN_NAME"),
    *("ORGANIZATION", "ADDRESS", "LOCATION", "ZIP_CODE", "COORDINATES", "CREDENTIAL"),
    *("CODE", "IBAN_CODE", "CREDIT_CARD", "US_SSN", IDENTIFYING),
)
_MEDICAL = ("CONDITION", "TREATMENT", "SUBSTANCE", "DOSE")

GROUPS: Mapping[str, tuple[str, ...]] = {
    "money": ("MONEY", "NUMBER"),
    "counts": ("NUMBER", "QUANTITY"),
    "codes": _CODES,
    "places": _PLACES,
    "contacts": _CONTACTS,
    "medical": _MEDICAL,
    "organisations": ("ORGANIZATION", "LOCATION"),
    "networks": ("IP_ADDRESS", "DOMAIN_NAME", "URL"),
    "secrets": ("CREDENTIAL", "CODE"),
    "times": ("DATE", "TIME"),
    "personal": _PERSONAL,
}
"""A type's own name is no key here, so tables can use both."""
