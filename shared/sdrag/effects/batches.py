"""An iterable, some at a time (`itertools.batched`, for Python before 3.12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

__all__ = ["batched"]

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """Yield up to `size` items at a time, in their order."""
    left = iter(items)
    while some := tuple(islice(left, size)):
        yield some
