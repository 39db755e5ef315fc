"""
Long work on threads, so that the page is answered meanwhile.

A few pieces of work are done at once, some more wait, and what comes then is refused.
Nobody waits for work that is over its time. It keeps its slot until it ends, so a page
that asks again and again starts no more than there are slots.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

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
            work: Called without arguments; it logs nothing.
            seconds: How long it is waited for, from when it is started.

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
        task = asyncio.ensure_future(asyncio.to_thread(_without_logs, work))
        task.add_done_callback(self._ended)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            raise _late(seconds)
        return task.result()

    def _ended(self, task: asyncio.Task[T]) -> None:
        self._slots.release()
        self._space += 1
        if not task.cancelled():
            task.exception()  # read, or asyncio logs it with all that it quotes


def _without_logs(work: Callable[[], T]) -> T:
    with suppress_logs():
        return work()


def _late(seconds: float) -> RefusedError:
    return RefusedError(
        503, f"This took longer than {seconds:.0f} seconds. Try a shorter text."
    )
