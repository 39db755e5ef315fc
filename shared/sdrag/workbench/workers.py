"""
Long work on threads, so that the page is answered meanwhile.

A few pieces of work are done at once, some more wait, and what comes then is refused.
Work that is over its time ends where it next looks at its deadline; until then it keeps
its slot, so a page that asks again and again starts no more than there are slots.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from sdrag.engine.calls import on_thread
from sdrag.engine.deadlines import Deadline, ends_by
from sdrag.errors import LocalLimitError
from sdrag.privacy.log_privacy import suppress_logs
from sdrag.workbench.limits import SECONDS, SLOTS, WAITING
from sdrag.workbench.refusals import RefusedError

__all__ = ["Workers"]

T = TypeVar("T")


class Workers:
    """
    Runs functions on threads.

    Args:
        slots: So many at once.
        waiting: So many more wait.
    """

    def __init__(self, slots: int = SLOTS, waiting: int = WAITING) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._space = slots + waiting

    async def run(self, work: Callable[[], T], seconds: float = SECONDS) -> T:
        """
        Run a function on a thread, and wait for it.

        Args:
            work: Looks at the deadline of its context, as all local work does.
            seconds: From when it is started.

        Raises:
            RefusedError: There is too much to do already, or it took too long.
        """
        if not self._space:
            raise RefusedError(503, "There is too much to do. Try again in a moment.")
        self._space -= 1
        try:
            await self._slots.acquire()
        except BaseException:
            self._space += 1
            raise
        deadline = Deadline(monotonic() + seconds)
        task = asyncio.ensure_future(on_thread(lambda _: _bounded(work, deadline), 0))
        task.add_done_callback(self._ended)
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            deadline.end_now()
        if not task.done():
            raise _late(seconds)
        try:
            return task.result()
        except LocalLimitError:
            raise _late(seconds) from None

    def _ended(self, task: asyncio.Task[T]) -> None:
        self._slots.release()
        self._space += 1
        if not task.cancelled():
            task.exception()  # read, or asyncio logs it with all that it quotes


def _bounded(work: Callable[[], T], deadline: Deadline) -> T:
    with ends_by(deadline), suppress_logs():
        return work()


def _late(seconds: float) -> RefusedError:
    return RefusedError(
        503, f"This took longer than {seconds:.0f} seconds. Try a shorter text."
    )
