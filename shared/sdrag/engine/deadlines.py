"""
When local work has to end, and where it looks whether it may go on.

Python cannot stop a thread. So whatever reads texts calls `check_time` between two of
them, and between two pieces of a long one. Past its deadline the work ends there with
an error. Work that has no deadline goes on to its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import monotonic

from sdrag.errors import LocalLimitError

__all__ = ["Deadline", "check_time", "ends_by"]


class Deadline:
    """
    When some work has to end.

    Args:
        at: In seconds, as `time.monotonic` counts them.
    """

    __slots__ = ("at",)

    def __init__(self, at: float = inf) -> None:
        self.at = at

    @property
    def left(self) -> float:
        """The seconds that are left, 0 where none are."""
        return max(0.0, self.at - monotonic())

    def end_now(self) -> None:
        """Let the work end where it next looks: nobody waits for it any more."""
        self.at = -inf


_current: ContextVar[Deadline | None] = ContextVar("sdrag-deadline", default=None)


@contextmanager
def ends_by(deadline: Deadline) -> Iterator[None]:
    """Give the work in this context a deadline."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


def check_time() -> None:
    """
    Go on, unless the deadline has passed.

    Raises:
        LocalLimitError: It has.
    """
    deadline = _current.get()
    if deadline is not None and not deadline.left:
        raise LocalLimitError("Local work took longer than its limit.")
