"""
Log records and warnings of other code, while that handles raw text for a wrapper.

Clients of model providers log a request whole at DEBUG, and stores warn with the
documents they found. So what is logged or warned inside a wrapper keeps its logger, its
level or category and its place, and loses its words. All of it passes through
`logging.Logger.makeRecord` and `warnings.warn`, which are put behind a gate once, when
this module is imported. The gate is closed by a context variable, so only inside a
wrapper, and for the threads and tasks that it starts. Our own records hold no text.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from typing import Any

__all__ = ["HIDDEN", "suppress_logs"]

HIDDEN = "(hidden: it was said while a wrapper held raw text)"
"""What stands in place of the words."""
_OWN = "sdrag"
_closed: ContextVar[bool] = ContextVar("sdrag_silence", default=False)


@contextmanager
def suppress_logs() -> Iterator[None]:
    """Hide the words of what is logged and warned inside the block."""
    closed = _closed.set(True)
    try:
        yield
    finally:
        _closed.reset(closed)


def _wordless(make: Callable[..., logging.LogRecord]) -> Callable[..., Any]:
    taken = signature(make)

    @wraps(make)
    def made(*args: Any, **kwargs: Any) -> logging.LogRecord:
        if not _closed.get():
            return make(*args, **kwargs)
        given = taken.bind(*args, **kwargs).arguments
        if given["name"].partition(".")[0] != _OWN:
            extra = given.get("extra")
            given |= {"msg": HIDDEN, "args": (), "exc_info": None, "sinfo": None}
            given["extra"] = None if extra is None else dict.fromkeys(extra, HIDDEN)
        return make(**given)

    return made


def _unsaid(warn: Callable[..., None]) -> Callable[..., None]:
    @wraps(warn)
    def warned(
        message: str | Warning,
        category: type[Warning] | None = None,
        stacklevel: int = 1,
        source: Any = None,
        **options: Any,
    ) -> None:
        if _closed.get():
            if isinstance(message, Warning):
                category = _plain(type(message))
            message, source = HIDDEN, None
        # One level more, for this function.
        warn(message, category, stacklevel + 1, source, **options)

    return warned


def _plain(category: type[Warning]) -> type[Warning]:
    """Return the nearest category that can be made of a message alone."""
    return next(one for one in category.__mro__ if one.__module__ == "builtins")


logging.Logger.makeRecord = _wordless(logging.Logger.makeRecord)  # type: ignore[method-assign]
warnings.warn = _unsaid(warnings.warn)
