"""
Which entities to mask: document level, then chain by chain (CLAM, section 4.2.4).

Documents come first, greedily by global contribution. Chains are then settled one
after the other, the riskiest first: `greedy` masks the entity of highest impact and
looks again; `knapsack` picks the smallest set whose summed impacts cover the required
reduction, by dynamic programming. Impacts are taken alone and two entities that carry
one link have more effect together, so a set so picked may be too large: it is checked
with the exact formula, topped up where it falls short, and trimmed where it can be.

Ties go by impact, then global contribution, then entity id; impacts are compared to
twelve digits, so that plans do not depend on the order of a sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sdrag.linkage.graph import Chains
from sdrag.linkage.incidence import Floats, Incidence, Ints, Mask
from sdrag.linkage.risk import TOLERANCE, LocalChain, RiskState
from sdrag.policy import LinkageSection

__all__ = ["Selection", "document_level", "settle_chains"]

_DIGITS = 12
_BLOCK = 2048
_UNITS = 256
"""Steps into which the knapsack divides the reduction it needs."""


@dataclass(slots=True)
class Selection:
    """
    What was masked, in order, and for which document or chain.

    Args:
        masked: (entities,)
        for_document: Entity to the document that needed it.
        for_chain: Entity to the chain that needed it.
    """

    masked: Mask
    for_document: dict[int, int] = field(default_factory=dict)
    for_chain: dict[int, int] = field(default_factory=dict)

    def mask_for_document(self, corpus: Incidence, entity: int) -> None:
        """Mask an entity whatever the risks are, for the first document it is in."""
        if not self.masked[entity]:
            self.masked[entity] = True
            self.for_document[entity] = int(corpus.document[corpus.rows_of(entity)[0]])


def document_level(corpus: Incidence, ceiling: float) -> Selection:
    """
    Mask until every document is at or under `theta_doc`, or nothing is left to mask.

    Args:
        corpus: The documents and their entities.
        ceiling: `theta_doc`, from 0 to 1. Entities that are certain to identify
            (contribution 1) are masked whatever it is.
    """
    selection = Selection(np.zeros(len(corpus.entity_ids), bool))
    limit = float(-np.log1p(-min(ceiling + TOLERANCE, 1.0))) if ceiling < 1 else np.inf
    certain = (corpus.global_contribution >= 1.0) & corpus.maskable
    for entity in np.flatnonzero(certain).tolist():
        selection.mask_for_document(corpus, entity)
    rank = np.round(corpus.global_contribution, _DIGITS)
    over = np.flatnonzero(corpus.document_risk(selection.masked) > ceiling + TOLERANCE)
    for document in over.tolist():
        _settle_document(corpus, document, limit, rank, selection)
    return selection


def _settle_document(
    corpus: Incidence, document: int, limit: float, rank: Floats, selection: Selection
) -> None:
    rows = slice(corpus.starts[document], corpus.starts[document + 1])
    rows_logs = zip(
        corpus.entity[rows].tolist(),
        corpus.log_contribution[rows].tolist(),
        strict=True,
    )
    active = {entity: log for entity, log in rows_logs if not selection.masked[entity]}
    order = sorted(
        (entity for entity in active if corpus.maskable[entity]),
        key=lambda entity: (-rank[entity], entity),
    )
    for entity in order:
        if sum(active.values()) <= limit:
            return
        del active[entity]
        selection.masked[entity] = True
        selection.for_document[entity] = document


def settle_chains(
    state: RiskState, chains: Chains, settings: LinkageSection, selection: Selection
) -> None:
    """
    Bring every chain to its ceiling, the riskiest first.

    Args:
        state: The state after document-level masking; masked further.
        chains: Enumerated on that state.
        settings: The strategy, `greedy` or `knapsack`, and what it keeps small.
        selection: What is masked and why; extended.
    """
    count, frequency = len(state.corpus.entity_ids), state.corpus.frequency
    costs = (
        np.ones(count) if settings.minimise == "entities" else frequency.astype(float)
    )
    greedy = settings.select == "greedy"
    settling = _Settling(state, chains, selection, costs, greedy)
    order = np.argsort(-np.round(chains.risk_before, _DIGITS), kind="stable")
    order = order[(chains.risk_before > chains.ceiling + TOLERANCE)[order]]
    for start in range(0, len(order), _BLOCK):
        over = settling.over(order[start : start + _BLOCK])
        while len(over):
            settling.settle(int(over[0]))
            over = settling.over(over[1:])


@dataclass(frozen=True, slots=True)
class _Settling:
    """Masks for one chain at a time."""

    state: RiskState
    chains: Chains
    selection: Selection
    costs: Floats
    greedy: bool

    def over(self, chosen: Ints) -> Ints:
        """Return those of the chosen chains that are over their ceiling."""
        risks = self.state.chain_risks(self.chains, chosen)
        return chosen[risks > self.chains.ceiling[chosen] + TOLERANCE]

    def settle(self, number: int) -> None:
        """Bring a chain to its ceiling, or as low as what may be masked allows."""
        local = self.state.local(self.chains, number)
        left = [e for e in local.entities if self.state.corpus.maskable[e]]
        ceiling = max(float(self.chains.ceiling[number]), local.risk(set(left)))
        while left and local.risk() > ceiling + TOLERANCE:
            impacts = local.impacts(left)
            left.sort(key=lambda entity: self._order(entity, impacts))
            taken = left[:1]
            if not self.greedy:
                taken = self._cheapest(local, left, impacts, ceiling)
            for entity in taken:
                self.state.mask(entity)
                self.selection.masked[entity] = True
                self.selection.for_chain[entity] = number
            local = local.without(set(taken))
            left = [entity for entity in left if entity not in taken]

    def _order(
        self, entity: int, impacts: Mapping[int, float]
    ) -> tuple[float, float, int]:
        whole = float(self.state.corpus.global_contribution[entity])
        return -round(impacts[entity], _DIGITS), -round(whole, _DIGITS), entity

    def _cheapest(
        self,
        chain: LocalChain,
        left: list[int],
        impacts: Mapping[int, float],
        ceiling: float,
    ) -> list[int]:
        """Choose the cheapest set whose summed impacts cover the reduction needed."""
        gains = np.array([impacts[entity] for entity in left])
        chosen = _cover(gains, self.costs[left], chain.risk() - ceiling)
        picked = [left[index] for index in chosen]
        return _trimmed(chain, picked, ceiling) or left[:1]


def _cover(gains: Floats, costs: Floats, needed: float) -> list[int]:
    """
    Pick the cheapest gains that sum to at least `needed`; all, where none do.

    A 0/1 knapsack over `_UNITS` steps of the need, gains rounded down so that a cover
    is a cover. Gains come in descending order; where all cost the same, the fewest are
    simply the first ones.
    """
    if costs.min() == costs.max():
        short = int(np.searchsorted(np.cumsum(gains), needed - TOLERANCE))
        return list(range(min(short + 1, len(gains))))
    steps = np.minimum((gains / needed * _UNITS).astype(int), _UNITS)
    best = np.full(_UNITS + 1, np.inf)
    best[0] = 0.0
    taken = np.zeros((len(gains), _UNITS + 1), bool)
    reached = np.arange(_UNITS + 1)
    for index in np.flatnonzero(steps > 0):
        offer = best[np.maximum(reached - steps[index], 0)] + costs[index]
        taken[index] = offer < best
        best = np.minimum(best, offer)
    if not np.isfinite(best[_UNITS]):
        return list(range(len(gains)))
    chosen: list[int] = []
    left = _UNITS
    for place in reversed(range(len(steps))):
        if taken[place, left]:
            chosen.append(place)
            left = max(left - int(steps[place]), 0)
    return chosen[::-1]


def _trimmed(chain: LocalChain, picked: list[int], ceiling: float) -> list[int]:
    """Drop what the set does not need, the least impact first."""
    kept = set(picked)
    if chain.risk(kept) > ceiling + TOLERANCE:
        return picked
    for entity in reversed(picked):
        if len(kept) > 1 and chain.risk(kept - {entity}) <= ceiling + TOLERANCE:
            kept.discard(entity)
    return [entity for entity in picked if entity in kept]
