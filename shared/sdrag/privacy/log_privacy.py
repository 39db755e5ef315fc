"""
Log records and warnings of other code, while that holds raw text for a wrapper.

Clients of model providers log a request whole at DEBUG, and stores warn with the
documents they retrieved. A wrapper knows when such code runs: `suppress_logs` sets a
context variable, for its own code and for the threads and tasks that it starts. An
application puts `RawTextFilter` on its log handlers, and sends warnings there:

    handler.addFilter(RawTextFilter())
    logging.captureWarnings(True)

Nothing is installed by itself. `docs/security.md` names what the filter does not reach.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

HIDDEN = "(hidden: logged while a wrapper held raw text)"
"""Replaces the message."""
_is_suppressed: ContextVar[bool] = ContextVar("sdrag_suppress_logs", default=False)
_STANDARD = logging.makeLogRecord({}).__dict__.keys() | {"asctime"}


class RawTextFilter(logging.Filter):
    """
    Removes the text of what other code logs inside a wrapper.

    A record keeps its logger, level and place; its message, arguments, error and
    `extra` are replaced. Records of sdrag itself hold no text and stay as they are.
    Put it on handlers, not on loggers: a logger's filter does not see the records of
    its children. With a `QueueHandler`, put it there, since its listener runs on
    another thread.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without text where a wrapper holds raw text."""
        if _is_suppressed.get() and record.name.partition(".")[0] != "sdrag":
            for name in record.__dict__.keys() - _STANDARD:
                record.__dict__[name] = HIDDEN
            record.msg, record.args = HIDDEN, ()
            record.exc_info = record.exc_text = record.stack_info = None
        return True


@contextmanager
def suppress_logs() -> Iterator[None]:
    """Mark what is logged and warned inside the block as that of a wrapper."""
    token = _is_suppressed.set(True)
    try:
        yield
    finally:
        _is_suppressed.reset(token)


@cache
def warn_without_filter() -> None:
    """Log a warning, once in a process, if no handler of the root has the filter."""
    handlers = logging.getLogger().handlers
    if any(isinstance(item, RawTextFilter) for h in handlers for item in h.filters):
        return
    logging.getLogger("sdrag").warning(
        "No handler of the root logger has `sdrag.RawTextFilter`: what stores and"
        " model clients log or warn may quote raw text. Add it to each handler, and"
        " call `logging.captureWarnings(True)`."
    )
