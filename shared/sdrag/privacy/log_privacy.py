"""
Log records and warnings of other code, while that handles raw text for a wrapper.

Clients of model providers log a request whole at DEBUG, and stores warn with the
documents they found. Inside a wrapper such a record or warning keeps its logger, its
level or category and its place, and loses its words. A context variable says what is
inside: the code of a wrapper, and the threads and tasks that it starts. Records of
sdrag itself hold no text and stay as they are.

`install` puts a log record factory and a `warnings.showwarning` before those that the
application has. `SECURITY.md` names what this does not reach.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Any

__all__ = ["HIDDEN", "install", "suppress_logs"]

HIDDEN = "(hidden: logged while a wrapper held raw text)"
"""Replaces the words."""
_OWN = "sdrag"
_is_suppressed: ContextVar[bool] = ContextVar("sdrag_suppress_logs", default=False)
_lock = Lock()


@contextmanager
def suppress_logs() -> Iterator[None]:
    """Hide the words of what is logged and warned inside the block."""
    install()
    token = _is_suppressed.set(True)
    try:
        yield
    finally:
        _is_suppressed.reset(token)


def install() -> None:
    """
    Pass log records and warnings through this module.

    Does nothing where they pass through it already. A factory or a `showwarning` that
    is in place is called afterwards.
    """
    with _lock:
        factory = logging.getLogRecordFactory()
        if not isinstance(factory, _RecordFactory):
            logging.setLogRecordFactory(_RecordFactory(factory))
        show: Any = warnings.showwarning
        if not isinstance(show, _ShowWarning):
            warnings.showwarning = _ShowWarning(show)


class _WordlessAttributes(dict[str, Any]):
    """The attributes of a record; `Logger.makeRecord` sets those of `extra` later."""

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, HIDDEN)

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


@dataclass(frozen=True, slots=True)
class _RecordFactory:
    """Makes log records by another factory."""

    make: Callable[..., logging.LogRecord]

    def __call__(self, name: str, *args: Any, **options: Any) -> logging.LogRecord:
        is_own = str(name).partition(".")[0] == _OWN
        if is_own or not _is_suppressed.get():
            return self.make(name, *args, **options)
        level, path, line, *rest = (
            args  # a message, its arguments, an error, a function
        )
        function = rest[3] if len(rest) > 3 else options.get("func")
        record = self.make(name, level, path, line, HIDDEN, (), None, function)
        record.__dict__ = _WordlessAttributes(record.__dict__)
        return record


@dataclass(frozen=True, slots=True)
class _ShowWarning:
    """Shows warnings by another `showwarning`."""

    show: Callable[..., None]

    def __call__(
        self,
        message: Warning | str,
        category: type[Warning],
        *place: Any,
        **options: Any,
    ) -> None:
        if _is_suppressed.get():
            category = _without_arguments(category)
            message = category(HIDDEN)
        self.show(message, category, *place, **options)


def _without_arguments(category: type[Warning]) -> type[Warning]:
    """Return the nearest category that can be made of a message alone."""
    return next(base for base in category.__mro__ if base.__module__ == "builtins")
