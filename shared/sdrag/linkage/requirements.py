"""
What a plan must meet, as a covering problem sees it.

A requirement is a document or a chain with a ceiling. In log space a document's is
linear in the entities masked. A chain's is not: a hop is its strength times a mean of
document risks. So a chain gives a valid linear bound on the strength of each hop, and
exact *cover cuts* where a proposed plan fails.

The bound: both documents of a hop hold what they share, hence
`(1 - R_i)(1 - R_j) <= 1 - s`, hence `R_i + R_j >= s`, hence the hop risks at least
`s (1 + s/2) / 2`, and s may be no more than `sqrt(1 + 4 c) - 1` under a ceiling c.

The cut: if masking a set leaves the requirement unmet then so does every part of the
set, since masking more never raises a risk; so something outside the largest such set
must be masked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from sdrag.linkage.risk_state import TOLERANCE, LocalChain

__all__ = ["ChainRequirement", "DocumentRequirement", "Requirement", "Row", "cuts"]

_LOOSE = 1e-7
"""Linear rows are loosened by this much; the exact check decides."""


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


class Requirement(Protocol):
    """A ceiling on a document or a chain."""

    @property
    def entities(self) -> tuple[int, ...]:
        """What may be masked to meet it."""
        ...

    def unmet(self, masked: set[int]) -> bool:
        """Say whether the ceiling is passed once `masked` is masked."""
        ...

    def rows(self) -> Iterator[Row]:
        """Yield linear conditions that every plan meeting it meets."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentRequirement:
    """
    A document under its ceiling.

    Args:
        logs: `-log(1 - c)` of each entity in it.
        limit: The most they may sum to, `-log(1 - theta_doc)`, or what the unmaskable
            ones sum to where that is more.
        entities: The maskable ones.
    """

    logs: Mapping[int, float]
    limit: float
    entities: tuple[int, ...]

    @classmethod
    def of(
        cls, logs: Mapping[int, float], ceiling: float, maskable: tuple[int, ...]
    ) -> DocumentRequirement:
        """Build from the ceiling on the document's risk."""
        limit = math.inf if ceiling >= 1 else -math.log1p(-(ceiling + TOLERANCE))
        left = logs.keys() - set(maskable)
        floor = math.fsum(logs[key] for key in sorted(left))
        return cls(logs, max(limit, floor), maskable)

    def unmet(self, masked: set[int]) -> bool:
        """See `Requirement`."""
        left = math.fsum(log for key, log in self.logs.items() if key not in masked)
        return left > self.limit

    def rows(self) -> Iterator[Row]:
        """See `Requirement`."""
        gains = {entity: self.logs[entity] for entity in self.entities}
        yield Row.of(gains, math.fsum(self.logs.values()) - self.limit)


@dataclass(frozen=True, slots=True)
class ChainRequirement:
    """
    A chain under its ceiling, or cut.

    Args:
        chain: With nothing masked but what is certain to be.
        ceiling: The most it may risk, or what the unmaskable entities leave.
        entities: The maskable ones.
        breaks_below: A hop weaker than this breaks the chain, which then needs no
            ceiling; 0 for chains whose ceiling holds in any case.
    """

    chain: LocalChain
    ceiling: float
    entities: tuple[int, ...]
    breaks_below: float = 0.0

    @classmethod
    def of(
        cls,
        chain: LocalChain,
        ceiling: float,
        maskable: tuple[int, ...],
        breaks_below: float = 0.0,
    ) -> ChainRequirement:
        """Build with a ceiling that can be met."""
        floor = chain.risk(set(maskable))
        return cls(chain, max(ceiling, floor), maskable, breaks_below)

    def unmet(self, masked: set[int]) -> bool:
        """See `Requirement`."""
        if self.breaks_below and self._is_broken(masked):
            return False
        return self.chain.risk(masked) > self.ceiling + TOLERANCE

    def rows(self) -> Iterator[Row]:
        """See `Requirement`."""
        if self.breaks_below and len(self.chain.shared) > 1:
            return  # any one of its hops may break it: no single row holds
        most = max(math.sqrt(1.0 + 4.0 * self.ceiling) - 1.0, self.breaks_below)
        if most >= 1.0:
            return
        limit = -math.log1p(-most)
        maskable = set(self.entities)
        for shared in self.chain.shared:
            need = math.fsum(shared.values()) - limit
            gains = {key: log for key, log in shared.items() if key in maskable}
            if need > 0 and gains:
                yield Row.of(gains, need)

    def _is_broken(self, masked: set[int]) -> bool:
        return any(
            -math.expm1(
                -math.fsum(log for key, log in shared.items() if key not in masked)
            )
            < self.breaks_below - TOLERANCE
            for shared in self.chain.shared
        )


def cuts(
    requirement: Requirement, masked: set[int], gains: Mapping[int, float]
) -> Iterator[Row]:
    """
    Yield conditions that `masked` breaks and every plan meeting the requirement keeps.

    Args:
        requirement: Unmet by `masked`.
        masked: What was proposed.
        gains: A weight for each entity; the set is grown in this order and against it.
    """
    start = masked & set(requirement.entities)
    seen: set[frozenset[int]] = set()
    rest = sorted(set(requirement.entities) - start, key=lambda key: (gains[key], key))
    for order in (rest, rest[::-1]):
        grown = set(start)
        for entity in order:
            if requirement.unmet(grown | {entity}):
                grown.add(entity)
        outside = frozenset(requirement.entities) - grown
        if outside not in seen:
            seen.add(outside)
            yield Row(dict.fromkeys(sorted(outside), 1.0), 1.0)
