"""
Technical values of the metadata: UUIDs, ISO dates and hexadecimal digests.

Their characters mean nothing by themselves, and a host compares them whole. So they are
read only for constraints that ask for such values. Every other string is read like any
text, and so is one that decodes to text. `metadata.verbatim` is for the rest.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime
from enum import Enum

from sdrag.text.decoding.encodings import from_hex, is_text

__all__ = ["Technical", "technical"]


class Technical(Enum):
    """What kind of technical value a value is."""

    UUID = "uuid"
    HASH = "hash"
    TIMESTAMP = "timestamp"


_UUID = re.compile(
    r"(?:urn:uuid:)?\{?(?P<run>[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\}?",
    re.IGNORECASE | re.ASCII,
)
_DIGEST = re.compile(
    r"(?:(?:md5|sha-?(?:1|224|256|384|512)|blake2[bs]|blake3|xxh\d{1,3})[:=-])?"
    r"(?P<run>[0-9a-f]{32,128}|[0-9A-F]{32,128})",
    re.ASCII,
)
_LENGTHS = frozenset({32, 40, 48, 56, 64, 96, 128})
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)


def technical(value: str) -> Technical | None:
    """Return the kind of a technical value; `None`: it is read like a text."""
    if match := _UUID.fullmatch(value):
        return Technical.UUID if _is_opaque(match["run"]) else None
    if match := _DIGEST.fullmatch(value):
        run = match["run"]
        fixed = len(run) in _LENGTHS and not run.isalpha()
        return Technical.HASH if fixed and _is_opaque(run) else None
    if _ISO.fullmatch(value):
        with suppress(ValueError):
            datetime.fromisoformat(value)
            return Technical.TIMESTAMP
    return None


def _is_opaque(run: str) -> bool:
    """Say whether hexadecimal digits are no decimal number and decode to no text."""
    digits = run.replace("-", "")
    return not (digits.isdigit() and int(digits)) and not is_text(from_hex(digits))
