"""
Work on daemon threads that somebody waits for, and what hangs when nobody does.

Python cannot stop a thread. So what nobody waits for any more is counted until it ends,
over the whole process.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from sdrag.engine.daemon_threads import daemon_threads

__all__ = ["WaitedFor", "hanging", "start_thread", "too_many_hang"]

I = TypeVar("I")  # noqa: E741 -- an item of any kind
T = TypeVar("T")


class _Hanging:
    """Counts the calls nobody waits for any more, over the whole process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0

    def over(self, cap: int) -> bool:
        with self._lock:
            return self._count >= cap

    def add(self, amount: int) -> None:
        with self._lock:
            self._count += amount


hanging = _Hanging()


def too_many_hang(cap: int) -> bool:
    """Say whether so much hangs that nothing more may be begun."""
    return hanging.over(cap)


class WaitedFor:
    """Work on a daemon thread, and whether anybody still waits for it."""

    __slots__ = ("_abandoned", "_finished", "_lock")

    def __init__(self) -> None:
        self._lock = Lock()
        self._finished = self._abandoned = False

    def finish(self) -> None:
        """Say that it has ended."""
        with self._lock:
            self._finished = True
            if self._abandoned:
                hanging.add(-1)

    def abandon(self) -> None:
        """Count it as hanging until it ends."""
        with self._lock:
            if not self._finished:
                self._abandoned = True
                hanging.add(1)


def start_thread(
    function: Callable[[I], T],
    item: I,
    deliver: Callable[[T | None, BaseException | None], None],
) -> WaitedFor:
    """
    Call a function on a daemon thread, in the context of the caller.

    Args:
        function: Takes the item.
        item: Of any kind.
        deliver: Takes the result, or None and what was raised, on that thread.
    """
    state = WaitedFor()
    context = contextvars.copy_context()

    def work() -> None:
        result, error = None, None
        try:
            result = context.run(function, item)
        except BaseException as raised:  # noqa: BLE001 -- raised where it is waited for
            error = raised
        state.finish()
        deliver(result, error)

    daemon_threads.do(work)
    return state
