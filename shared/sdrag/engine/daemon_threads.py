"""
Daemon threads that do one piece of work after another.

To start a thread is to wait until it runs, and every thread that computes delays that.
On an event loop under load this takes a large part of the loop's time. So a thread that
has done its work waits some seconds for more. There are as many threads as there is
work at the same time: work never waits for other work to end.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Thread

__all__ = ["NAME", "DaemonThreads", "daemon_threads"]

NAME = "sdrag-call"
Work = Callable[[], None]


class DaemonThreads:
    """
    Threads that never hold a process at its exit.

    Args:
        patience: For how many seconds a thread waits for more work.
    """

    def __init__(self, patience: float = 5.0) -> None:
        self._patience = patience
        self.forget()

    def forget(self) -> None:
        """Forget all threads: a process that was forked has none of them."""
        self._lock = Lock()
        self._idle: list[SimpleQueue[Work]] = []

    def do(self, work: Work) -> None:
        """Do work that raises nothing, on an idle thread or else on a new one."""
        with self._lock:
            queue = self._idle.pop() if self._idle else None
        if queue is not None:
            queue.put(work)
            return
        queue = SimpleQueue()
        queue.put(work)  # a thread holds its arguments for as long as it lives
        Thread(target=self._serve, args=(queue,), name=NAME, daemon=True).start()

    def _serve(self, queue: SimpleQueue[Work]) -> None:
        work: Work | None = queue.get()
        while work is not None:
            work()
            work = None  # it holds texts
            work = self._next(queue)

    def _next(self, queue: SimpleQueue[Work]) -> Work | None:
        """Wait for work; return None where nobody has brought any for long."""
        with self._lock:
            self._idle.append(queue)
        try:
            return queue.get(timeout=self._patience)
        except Empty:
            with self._lock:
                if queue in self._idle:
                    self._idle.remove(queue)
                    return None
        return queue.get()  # it was taken just now


daemon_threads = DaemonThreads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=daemon_threads.forget)
