"""Secrets that structures are filled with, and the shape of a value."""

from __future__ import annotations

WHO = ("rosa@kestrel.example", "+44 7700 900461", "(415) 555-0142")


def keys_of(value: object) -> object:
    """Return the keys of a value, with how many items its lists have."""
    if isinstance(value, dict):
        return {key: keys_of(inner) for key, inner in value.items()}
    return [keys_of(inner) for inner in value] if isinstance(value, list) else None
