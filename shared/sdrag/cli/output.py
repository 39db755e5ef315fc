"""How results are printed."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, noun: str) -> str:
    """Return how many there are, such as `1 chunk` or `2,000 chunks`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
