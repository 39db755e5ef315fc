"""One clear error for a missing extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sdrag.errors import MissingExtraError

__all__ = ["needs"]


@contextmanager
def needs(extra: str, feature: str) -> Iterator[None]:
    """
    Turn an ImportError inside the block into the command that mends it.

    Raises:
        MissingExtraError: A package of the extra is missing.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(feature, extra) from error
