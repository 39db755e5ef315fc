"""Wait for what other threads do."""

from __future__ import annotations

import time
from collections.abc import Callable

from sdrag.engine.waited_for import too_many_hang


def eventually(condition: Callable[[], object], seconds: float = 30.0) -> bool:
    """Say whether the condition came to hold."""
    deadline = time.monotonic() + seconds
    while not (holds := bool(condition())) and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds


def nothing_hangs() -> bool:
    """Wait for the calls that earlier tests have abandoned: all tests share a count."""
    return eventually(lambda: not too_many_hang(1))
