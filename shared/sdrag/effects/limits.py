"""The bounds of model calls, and of the texts that are read on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from sdrag.errors import UsageError


@dataclass(frozen=True, slots=True)
class Limits:
    """
    The bounds of model calls, and of the texts that are read on this machine.

    Detectors, scorers, scans and highlighters read texts at a question. A text that is
    over a limit is not read, and what was not read is not released. A binder reads a
    whole corpus and has no such limit.

    Args:
        seconds: How long one call may take, with its waits where the provider has
            refused it for now.
        concurrency: How many run at the same time.
        attempts: How often a call that failed is made, in all; refusals for now do not
            count.
        text_characters: The longest text that is read; None for any length.
        local_characters: How many characters each of these steps reads for one request,
            the shortest texts first; None for any number.
    """

    seconds: float = 60.0
    concurrency: int = 32
    attempts: int = 2
    text_characters: int | None = 100_000
    local_characters: int | None = 200_000

    def __post_init__(self) -> None:
        bounds: list[float] = [self.seconds, self.concurrency, self.attempts]
        texts = (self.text_characters, self.local_characters)
        bounds += [bound for bound in texts if bound is not None]
        if not all(0 < bound < inf for bound in bounds):
            raise UsageError(
                "Every limit of `Limits` must be above zero and finite.",
                hint="Pass None to read texts of any length.",
            )


def readable(texts: Sequence[str], limits: Limits) -> list[bool]:
    """Return for each text whether it is read: the shortest first, each once."""
    longest = inf if limits.text_characters is None else limits.text_characters
    left = inf if limits.local_characters is None else limits.local_characters
    read: set[str] = set()
    for text in sorted(dict.fromkeys(texts), key=len):
        if len(text) <= min(longest, left):
            read.add(text)
            left -= len(text)
    return [text in read for text in texts]
