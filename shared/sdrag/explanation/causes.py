"""Who found a span, and how sure it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = ["FOUND_BY", "Cause"]

FOUND_BY: Mapping[str, str] = MappingProxyType(
    {
        "type": "a detector found a mention of the type {type}",
        "checked": "its form alone shows the type {type}",
        "named": "the constraint names it",
        "cue": "its sentence speaks of what the constraint asks for",
        "scored": "the networks gave it {confidence:.2f} of 1",
        "again": "a name or a rare word that the networks found in the document",
        "encoded": "decoded, it is what was asked for",
        "model": "the model quoted it",
        "register": "the same was found elsewhere in the document",
        "everything": "the constraint forbids everything",
        "not-understood": "nobody understands the constraint, so all is withheld",
        "other-language": "it is in a language that the rules do not read",
        "undecided": "the constraint could not be decided on this text",
    }
)
"""What each code of a cause means; the fields are those of `Cause`."""


@dataclass(frozen=True, slots=True, order=True)
class Cause:
    """
    Who found a span.

    Args:
        by: A key of `FOUND_BY`.
        type: Of the mention, such as `PERSON`; empty where no type was asked for.
        confidence: From 0 to 1, as its finder puts it.
    """

    by: str
    type: str = ""
    confidence: float = 1.0

    def __str__(self) -> str:
        said = FOUND_BY.get(self.by, "found by {by}")
        kind = self.type or "that was asked for"
        return said.format(by=self.by, type=kind, confidence=self.confidence)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "by": self.by,
            "type": self.type,
            "confidence": round(self.confidence, 4),
        }
