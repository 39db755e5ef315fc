"""Wait for what other threads do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


def eventually(condition: Callable[[], object], seconds: float = 120.0) -> bool:
    """Say whether the condition came to hold."""
    deadline = time.monotonic() + seconds
    while not (holds := bool(condition())) and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds


_over = [threading.Event()]


def hang() -> None:
    """Wait until the test is over, or for longer than a limit of a test."""
    _over[0].wait(0.6)


def let_go() -> None:
    """Let all that hangs end."""
    _over.append(threading.Event())
    _over.pop(0).set()
