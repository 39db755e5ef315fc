"""Wait for what other threads do, and let time pass at once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any
from weakref import WeakSet

import pytest

from sdrag.engine import calls
from sdrag.engine.waited_for import too_many_hang


def eventually(condition: Callable[[], object], seconds: float = 120.0) -> bool:
    """Say whether the condition came to hold."""
    deadline = time.monotonic() + seconds
    while not (holds := bool(condition())) and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds


def nothing_hangs() -> bool:
    """Wait for the calls that earlier tests have abandoned: all tests share a count."""
    return eventually(lambda: not too_many_hang(1))


_over = [threading.Event()]


def hang() -> None:
    """Wait until the test is over, or for longer than a limit of a test."""
    _over[0].wait(2)


def let_go() -> None:
    """Let all that hangs end."""
    _over.append(threading.Event())
    _over.pop(0).set()


class Clock:
    """
    The clock of calls: real time, and what a test lets pass at once.

    So a limit is met by whoever calls `skip`, however busy the machine is.
    """

    def __init__(self) -> None:
        self._skipped = 0.0
        self._loops: WeakSet[asyncio.AbstractEventLoop] = WeakSet()

    def __call__(self) -> float:
        return time.monotonic() + self._skipped

    def skip(self, seconds: float = 1000.0) -> None:
        """Let time pass; whoever waits for it goes on."""
        self._skipped += seconds
        for loop in list(self._loops):
            with suppress(RuntimeError):  # it is closed
                loop.call_soon_threadsafe(int)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take the place of the real one."""
        clock = self

        def loop_time(loop: asyncio.AbstractEventLoop) -> float:
            clock._loops.add(loop)
            return clock()

        class Queue(SimpleQueue[Any]):
            def get(self, block: bool = True, timeout: float | None = None) -> Any:  # noqa: FBT001, FBT002 -- as the other one
                until = clock() + (1e9 if timeout is None else timeout)
                while True:
                    with suppress(Empty):
                        return super().get(block, 0.01)
                    if clock() >= until:
                        raise Empty

        monkeypatch.setattr(calls, "monotonic", clock)
        monkeypatch.setattr(calls, "SimpleQueue", Queue)
        monkeypatch.setattr(asyncio.BaseEventLoop, "time", loop_time)
