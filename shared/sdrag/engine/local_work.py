"""
Local work of one request, within its limits of characters and seconds.

The work is done on a daemon thread, one item after the other. When the seconds are over
nobody waits for it any more: items that were done keep their answers, the others fail.
The thread ends at its next `check_time`. Until then it counts as hanging, like a model
call that nobody waits for: when too much hangs, new work fails at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from math import inf
from threading import Event, Lock
from time import monotonic
from typing import Any

from sdrag.engine.calls import Limits, computed, on_thread
from sdrag.engine.deadlines import Deadline, ends_by
from sdrag.engine.steps import Failure, Outcome, Reply
from sdrag.engine.waited_for import start_thread, too_many_hang
from sdrag.errors import LocalLimitError

__all__ = ["LocalWork"]


class LocalWork:
    """
    What local work of one request may still take, over all of its threads.

    A text counts once, however often it is read.

    Args:
        limits: Of the request.
    """

    __slots__ = ("_characters", "_hanging", "_lock", "_reserved", "_seconds")

    def __init__(self, limits: Limits) -> None:
        self._characters = _or_endless(limits.local_characters)
        self._seconds = _or_endless(limits.local_seconds)
        self._hanging = limits.hanging
        self._reserved: set[int] = set()
        self._lock = Lock()

    def reserve(self, texts: Sequence[str]) -> list[Outcome[None]]:
        """Say of each text whether it may be read; one that is too long may not."""
        return [self._reserve(text) for text in texts]

    def do(
        self, function: Callable[[Any], Any], items: Sequence[Any]
    ) -> list[Outcome[Any]]:
        """Apply a function to each item, for as long as there is time."""
        if self._seconds == inf:
            return [computed(function, item) for item in items]
        if too_many_hang(self._hanging):
            return _Work(function, items, Deadline()).outcomes
        work = _Work(function, items, self._deadline())
        start = monotonic()
        try:
            return work.done()
        finally:
            self._spend(monotonic() - start)

    async def ado(
        self, function: Callable[[Any], Any], items: Sequence[Any]
    ) -> list[Outcome[Any]]:
        """Do the same without blocking the event loop."""
        if self._seconds == inf:
            return await on_thread(
                lambda given: [computed(function, item) for item in given], items
            )
        if too_many_hang(self._hanging):
            return _Work(function, items, Deadline()).outcomes
        work = _Work(function, items, self._deadline())
        start = monotonic()
        try:
            return await work.adone()
        finally:
            self._spend(monotonic() - start)

    def _reserve(self, text: str) -> Outcome[None]:
        known = hash(text)
        with self._lock:
            if known in self._reserved:
                return Reply(None)
            if len(text) > self._characters:
                return Failure(LocalLimitError("A text is over the limit."))
            self._characters -= len(text)
            self._reserved.add(known)
            return Reply(None)

    def _deadline(self) -> Deadline:
        with self._lock:
            return Deadline(monotonic() + self._seconds)

    def _spend(self, seconds: float) -> None:
        with self._lock:
            self._seconds = max(0.0, self._seconds - seconds)


class _Work:
    """
    Items that are worked on by a thread.

    Args:
        function: Applied to each.
        items: Of any kind.
        deadline: When nobody waits for them any more.
    """

    __slots__ = ("deadline", "function", "interrupt", "items", "outcomes")

    def __init__(
        self, function: Callable[[Any], Any], items: Sequence[Any], deadline: Deadline
    ) -> None:
        late = Failure(LocalLimitError("Local work was not done within its limit."))
        self.function, self.items, self.deadline = function, items, deadline
        self.outcomes: list[Outcome[Any]] = [late] * len(items)
        self.interrupt: BaseException | None = None

    def done(self) -> list[Outcome[Any]]:
        """Wait for the work on a thread, to its end or to the deadline."""
        ended = Event()
        thread = start_thread(lambda _: self._go_on(), None, lambda *_: ended.set())
        try:
            ended.wait(self.deadline.left)
            return self._so_far()
        finally:
            self.deadline.end_now()
            if not ended.is_set():
                thread.abandon()

    async def adone(self) -> list[Outcome[Any]]:
        """Wait for the same on the event loop."""
        task = asyncio.ensure_future(on_thread(lambda _: self._go_on(), None))
        try:
            await asyncio.wait({task}, timeout=self.deadline.left)
            return self._so_far()
        finally:
            self.deadline.end_now()
            if not task.done():
                task.cancel()

    def _go_on(self) -> None:
        """Work on one item after the other; what ends past the deadline is late."""
        with ends_by(self.deadline):
            for index, item in enumerate(self.items):
                if not self.deadline.left:
                    return
                try:
                    outcome = computed(self.function, item)
                except BaseException as error:  # noqa: BLE001 -- raised to who waits
                    self.interrupt = error
                    return
                if self.deadline.left:
                    self.outcomes[index] = outcome

    def _so_far(self) -> list[Outcome[Any]]:
        if self.interrupt is not None:
            raise self.interrupt
        return list(self.outcomes)


def _or_endless(limit: float | None) -> float:
    return inf if limit is None else limit
