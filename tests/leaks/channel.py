"""What one way is by which text can leave a guarded tool or a shared thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

Watch = Callable[[], Awaitable[Any]] | Callable[[], Any]


@dataclass(frozen=True)
class Channel:
    """
    One way out, as a host uses it.

    Args:
        framework: `langchain` or `llamaindex`.
        name: Of the row in the table; the frameworks share rows.
        watch: Uses it, by mode, and returns all that was seen; may be async.
        open_since: Why it is open; empty where it is sealed.
    """

    framework: str
    name: str
    watch: Mapping[str, Watch]
    open_since: str = ""


TOOL_ROWS = (
    "answer, attachments, blocks",
    "ids and names of messages",
    "command, events for other steps",
    "state, changed in place",
    "store, state that is kept",
    "stream",
    "question to a human",
    "wiring of the graph",
    "objects of the host",
)
"""What a guarded tool can write to."""

THREAD_ROWS = (
    "prompt of another principal",
    "thread, as it is shown to another principal",
    "thread, before the middleware runs",
    "older checkpoints, the memory itself",
    "words of a human",
)
"""What principals who share a thread or a memory see of each other's."""
