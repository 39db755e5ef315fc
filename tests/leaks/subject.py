"""What the leak matrix tries: a class as its host uses it, and a way out of a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Config = dict[str, Any]
Mode = Callable[[Any, Config], Any]
AsyncMode = Callable[[Any, Config], Awaitable[Any]]


@dataclass(frozen=True)
class Subject:
    """
    A class under test.

    Args:
        framework: `langchain` or `llamaindex`.
        name: Of the class.
        build: Makes the object that the modes are called on, in a folder.
        wrapper: Finds our object in it.
        modes: What a host does, by mode; an async one returns an awaitable.
        host_first: Surfaces in which the host shows raw text before it calls us.
        traced: Surfaces in which the host shows what is returned.
        releases: What it returns is for the asker; else it goes elsewhere.
        goes: Where it goes then.
        carries_policy: Surfaces that take the policy to worker processes on purpose.
    """

    framework: str
    name: str
    build: Callable[[Path], Any]
    modes: Mapping[str, Mode | AsyncMode]
    wrapper: Callable[[Any], Any] = lambda built: built
    host_first: frozenset[str] = field(default_factory=frozenset)
    traced: frozenset[str] = field(default_factory=frozenset)
    releases: bool = True
    goes: str = "goes to the store"
    carries_policy: frozenset[str] = field(default_factory=frozenset)


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
        shows: What is seen all the same: the answer, or why it is refused.
    """

    framework: str
    name: str
    watch: Mapping[str, Watch]
    open_since: str = ""
    shows: str = ""


TOOL_ROWS = (
    "answer, attachments, blocks",
    "ids and names of messages",
    "command, events for other steps",
    "state, changed in place",
    "store, state that is kept",
    "stream",
    "question to a human",
    "wiring of the graph",
    "objects of your application",
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
