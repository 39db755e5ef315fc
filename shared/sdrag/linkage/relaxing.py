"""
Linear conditions that every plan keeping a hop under a ceiling meets.

The hop's risk is `s (1 + (R_i + R_j) / 2) / 2`. Suppose a set V of what its documents
share is left unmasked. Then the strength is at least `s_V`, so the risk is at most c
only if `(1 - R_i) + (1 - R_j) >= 4 - 4 c / s_V`. In log space `1 - R = exp(-A)`, which
is convex, so its chord over the values that A can take lies above it: the sum of the
two chords must reach the same bound, and a chord is linear in what is masked. The
condition binds as long as nothing of V is masked; masking any part of V meets it. Where
it cannot be met at all, V itself must be broken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

__all__ = ["Hop", "Row"]

_LOOSE = 1e-7
"""Linear rows are loosened by this much; the exact check has the last word."""
_WIDEST = 3
_MOST_SHARED = 8
"""Of hops that share more, only single entities and the whole are supposed."""

Logs = Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Row:
    """A linear requirement: the sum of `gains` over what is masked reaches `need`."""

    gains: Mapping[int, float]
    need: float

    @classmethod
    def of(cls, gains: Mapping[int, float], need: float) -> Row:
        """Build a row that all of `gains` together can meet, loosened."""
        need = min(need, math.fsum(gains.values())) - _LOOSE
        return cls({key: min(gain, need) for key, gain in gains.items()}, need)


@dataclass(frozen=True, slots=True)
class Hop:
    """
    One hop under a ceiling.

    Args:
        documents: `-log(1 - c)` of each entity, for either document.
        shared: `-log(1 - s_e)` of each shared entity.
        ceiling: The most that the hop may risk.
        maskable: What may be masked.
        breaks_below: A hop weaker than this is none.
    """

    documents: tuple[Logs, Logs]
    shared: Logs
    ceiling: float
    maskable: frozenset[int]
    breaks_below: float = 0.0

    def rows(self) -> Iterator[Row]:
        """Yield the conditions, those of the fewest supposed entities first."""
        broken: list[frozenset[int]] = []
        for left in self._supposed():
            if any(part <= left for part in broken):
                continue
            row = self._row(left)
            if row is not None and row.gains.keys() <= left:
                broken.append(left)
            if row is not None:
                yield row

    def _supposed(self) -> Iterator[frozenset[int]]:
        """Yield sets of shared, maskable entities that may be left unmasked."""
        free = sorted(self.shared.keys() & self.maskable)
        widest = _WIDEST if len(free) <= _MOST_SHARED else 1
        for size in range(1, min(widest, len(free)) + 1):
            yield from map(frozenset, combinations(free, size))
        if len(free) > widest:
            yield frozenset(free)

    def _row(self, left: frozenset[int]) -> Row | None:
        stays = left | (self.shared.keys() - self.maskable)
        strength = -math.expm1(-math.fsum(self.shared[key] for key in stays))
        if strength <= self.ceiling or strength < self.breaks_below:
            return None
        needed = 4.0 - 4.0 * self.ceiling / strength
        lows = [self._least(logs, stays) for logs in self.documents]
        budget = sum(math.exp(-low) for low in lows) - needed
        if budget < -_LOOSE:
            return Row.of(dict.fromkeys(sorted(left), 1.0), 1.0)
        gains: dict[int, float] = {}
        need = -budget
        for number, logs in enumerate(self.documents):
            other = math.exp(-lows[1 - number])
            slope, reach = _chord(logs, lows[number], needed - other)
            need += slope * reach
            for key in logs.keys() & self.maskable - left:
                gains[key] = gains.get(key, 0.0) + slope * logs[key]
        if need <= _LOOSE:
            return None
        return Row.of(gains | dict.fromkeys(left, need), need)

    def _least(self, logs: Logs, stays: frozenset[int]) -> float:
        """Return the least that a document's logarithms can sum to."""
        return math.fsum(
            log for key, log in logs.items() if key in stays or key not in self.maskable
        )


def _chord(logs: Logs, low: float, least: float) -> tuple[float, float]:
    """
    Return the slope of the chord of `exp(-A)`, and how far A is from its lower end.

    Args:
        logs: What A sums.
        low: The least A.
        least: `exp(-A)` is no less than this in any case.
    """
    whole = math.fsum(logs.values())
    high = whole if least <= 0.0 else min(whole, -math.log(least))
    if high - low < _LOOSE:
        return math.exp(-low), whole - low
    return (math.exp(-low) - math.exp(-high)) / (high - low), whole - low
