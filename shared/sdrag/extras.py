"""One clear error for a missing extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sdrag.errors import MissingExtraError

__all__ = ["require_extra"]

_OURS = frozenset({"langchain_sdrag", "llamaindex_sdrag", "sdrag"})


@contextmanager
def require_extra(extra: str, feature: str) -> Iterator[None]:
    """
    Turn an ImportError inside the block into the command that mends it.

    Raises:
        MissingExtraError: A package of the extra is missing.
        ImportError: What cannot be imported is ours: no extra brings that.
    """
    try:
        yield
    except MissingExtraError:
        raise  # the one inside knows better which extra it is
    except ImportError as error:
        if (error.name or "").partition(".")[0] in _OURS:
            raise
        raise MissingExtraError(feature, extra) from error
