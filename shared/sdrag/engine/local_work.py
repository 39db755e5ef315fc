"""Which texts local work may read for one request."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from threading import Lock

from sdrag.engine.calls import Limits
from sdrag.engine.steps import Failure, Outcome, Reply
from sdrag.errors import LocalLimitError

__all__ = ["LocalWork"]


class LocalWork:
    """
    What local work of one request may still read; a text counts once.

    Args:
        limits: Of the request.
    """

    __slots__ = ("_characters", "_lock", "_reserved")

    def __init__(self, limits: Limits) -> None:
        characters = limits.local_characters
        self._characters = inf if characters is None else characters
        self._reserved: set[int] = set()
        self._lock = Lock()

    def reserve(self, texts: Sequence[str]) -> list[Outcome[None]]:
        """Say of each text whether it may be read; one that is too long may not."""
        return [self._reserve(text) for text in texts]

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
