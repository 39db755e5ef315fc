"""What a load has shown: counts, times, and what leaked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import linear_regression

from benchmarks.service_parts.corpus import Shown

__all__ = ["Record", "percentile"]


@dataclass(slots=True)
class Record:
    """
    What one load has shown.

    Args:
        asked: Requests that were begun.
        answers: Answers that were read to their end.
        statuses: Of the answers that began.
        left: Requests that a client left, by how far their answers had come.
        errors: What nobody expected.
        leaks: Answers, also those that were left, by what they should not have shown.
        latencies: Seconds to the end of each whole answer.
        first_lines: Seconds to its first line.
        memory: Minutes since the start, and MB of all processes of the service.
        probes: Seconds that another process waited for `/health/live`.
    """

    asked: int = 0
    answers: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    leaks: Counter[str] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    first_lines: list[float] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)
    probes: list[float] = field(default_factory=list)

    def checked(self, shown: Shown, hidden: frozenset[str], *, whole: bool) -> None:
        """
        Count what an answer shows and should not.

        Args:
            shown: What is in it.
            hidden: What the policy in force hides, where that is certain.
            whole: It was read to its end.
        """
        self.leaks["secret"] += shown.secret
        self.leaks["another tenant's"] += shown.foreign
        self.leaks["two policies in one"] += len(shown.kinds) > 1
        self.leaks["a policy of another time"] += bool(shown.kinds & hidden)
        self.leaks["nothing to check"] += whole and not shown.canaries

    def slope(self) -> float:
        """Return the growth of memory in MB a minute, after the first fifth."""
        minutes, sizes = zip(*self.memory[len(self.memory) // 5 :], strict=True)
        return linear_regression(minutes, sizes).slope if len(sizes) > 1 else 0.0


def percentile(seconds: list[float], part: float) -> float:
    """Return the milliseconds that this part of all are not above."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))]
