"""What a class under test is, for the leak matrix."""

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
        releases: What it returns is for the asker; else it goes to the host's store.
        carries_policy: Surfaces that take the policy to worker processes on purpose.
    """

    framework: str
    name: str
    build: Callable[[Path], Any]
    modes: Mapping[str, Mode | AsyncMode]
    wrapper: Callable[[Any], Any] = lambda built: built
    host_first: frozenset[str] = field(default_factory=frozenset)
    releases: bool = True
    carries_policy: frozenset[str] = field(default_factory=frozenset)
