"""
The ids of a host's store, as a database can hold them.

PostgreSQL holds no NUL, and neither database half a surrogate. An id with one of them
is stored in an escaped form, which is its own: no two ids are stored alike. All others
are stored as they are.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes

__all__ = ["given_id", "stored_id"]

_MARK = "\x1b"
"""What escaped ids begin with."""
_ESCAPED = re.compile(f"^{_MARK}|[\0\ud800-\udfff]")


def stored_id(given: str) -> str:
    """Return an id as it is stored."""
    if not _ESCAPED.search(given):
        return given
    return _MARK + quote(given.encode("utf-8", "surrogatepass"))


def given_id(stored: str) -> str:
    """Return an id as it was given."""
    if not stored.startswith(_MARK):
        return stored
    return unquote_to_bytes(stored[1:]).decode("utf-8", "surrogatepass")
