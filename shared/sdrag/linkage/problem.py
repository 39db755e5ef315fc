"""
What a plan of one corpus must meet, growing as proposals show what else is needed.

A chain that document-level masking cut is revived where another choice of entities
leaves its link alone; then it must be at or under `theta_chain`. Where there are few
such chains all are required from the start, otherwise when a proposal revives them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdrag.linkage.chains import Chains, Table, enumerate_chains
from sdrag.linkage.edges import Edges
from sdrag.linkage.incidence import Floats, Incidence
from sdrag.linkage.requirements import (
    ChainRequirement,
    DocumentRequirement,
    Requirement,
)
from sdrag.linkage.risk_state import TOLERANCE, Mask, RiskState
from sdrag.policy import LinkageSection

__all__ = ["PlanningInput", "Problem"]

_UPFRONT = 5000
_DIGITS = 9


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlanningInput:
    """
    What a plan is made on.

    Args:
        corpus: The documents and their entities.
        settings: The ceilings and the time limit.
        certain: (entities,) what every plan masks.
        graph: Pruned, with nothing masked but `certain`.
        edges: The graph after document-level masking.
        chains: Enumerated on `edges`, with their ceilings.
    """

    corpus: Incidence
    settings: LinkageSection
    certain: Mask
    graph: Edges
    edges: Edges
    chains: Chains


class Problem:
    """
    The requirements of one corpus.

    Args:
        planning: What plans are made on.
        costs: (entities,) what masking each costs.
    """

    def __init__(self, planning: PlanningInput, costs: Floats) -> None:
        self.corpus, self._settings = planning.corpus, planning.settings
        self._graph, self.certain, self.costs = planning.graph, planning.certain, costs
        self._state = RiskState(planning.corpus, planning.graph, planning.certain)
        hops = _renumbered(planning.chains, planning.edges, planning.graph)
        self._chains_before = replace(planning.chains, hops=hops)
        self.gains = dict(enumerate(planning.corpus.global_contribution.tolist()))
        self.requirements: list[Requirement] = [*self._documents(), *self._chains()]
        self.requirements.extend(self._known_revivals())

    def cost(self, masked: Mask) -> float:
        """Return what a plan costs."""
        return float(self.costs[masked].sum())

    def rank(self, masked: Mask) -> tuple[float, float, list[int]]:
        """Return what plans are compared by: cost, how telling it is, entity ids."""
        order = np.flatnonzero(masked).tolist()
        cost = math.fsum(float(self.costs[entity]) for entity in order)
        telling = math.fsum(self.gains[entity] for entity in order)
        return cost, -round(telling, _DIGITS), order

    def trimmed(self, masked: Mask, deadline: float) -> Mask:
        """Take back what a plan does not need, the dearest and least useful first."""
        kept = masked.copy()
        names = set(np.flatnonzero(kept).tolist())
        by_entity: dict[int, list[Requirement]] = {}
        for requirement in self.requirements:
            for entity in requirement.entities:
                by_entity.setdefault(entity, []).append(requirement)
        free = np.flatnonzero(masked & ~self.certain).tolist()
        free.sort(key=lambda e: (-self.costs[e], self.gains[e], e))
        for entity in free:
            if time.monotonic() > deadline:
                break
            rest = names - {entity}
            if any(item.unmet(rest) for item in by_entity.get(entity, ())):
                continue
            kept[entity] = False
            if self.revived(kept):
                kept[entity] = True
            else:
                names = rest
        return kept

    def _documents(self) -> list[Requirement]:
        risk = -np.expm1(-self._state.document_log)
        ceiling = self._settings.max_document_risk
        found: list[Requirement] = []
        for document in np.flatnonzero(risk > ceiling + TOLERANCE).tolist():
            logs = self._state.active(document)
            found.append(DocumentRequirement.of(logs, ceiling, self._maskable(logs)))
        return [requirement for requirement in found if requirement.unmet(set())]

    def _chains(self) -> list[Requirement]:
        numbers = np.arange(len(self._chains_before))
        risks = self._state.chain_risks(self._chains_before, numbers)
        over = np.flatnonzero(risks > self._chains_before.ceiling + TOLERANCE).tolist()
        found = [
            self._chain(
                self._chains_before, number, float(self._chains_before.ceiling[number])
            )
            for number in over
        ]
        return [requirement for requirement in found if requirement.unmet(set())]

    def _chain(
        self, chains: Chains, number: int, ceiling: float, breaks_below: float = 0.0
    ) -> ChainRequirement:
        local = self._state.local(chains, number)
        maskable = self._maskable(local.entities)
        return ChainRequirement.of(local, ceiling, maskable, breaks_below)

    def _maskable(self, entities: Sequence[int] | dict[int, float]) -> tuple[int, ...]:
        return tuple(entity for entity in entities if self.corpus.maskable[entity])

    def revived(self, masked: Mask) -> list[Requirement]:
        """Return chains that masking this would leave over `theta_chain`."""
        settings = self._settings
        graph = self._graph.without(masked, settings.edge_threshold)
        chains = enumerate_chains(graph, self.corpus.document_risk(masked), settings)
        chains = replace(chains, hops=_renumbered(chains, graph, self._graph))
        over = np.flatnonzero(chains.risk_before > settings.max_chain_risk + TOLERANCE)
        names = set(np.flatnonzero(masked).tolist())
        found: list[Requirement] = []
        for number in over.tolist():
            requirement = self._chain(
                chains, number, settings.max_chain_risk, settings.edge_threshold
            )
            if requirement.unmet(names):
                found.append(requirement)
        return found

    def _known_revivals(self) -> list[Requirement]:
        """Return all chains that some plan could revive, unless they are many."""
        graph, settings = self._graph, self._settings
        if len(graph) > _UPFRONT or settings.chain_length > 2:
            return []
        known = {tuple(hops) for hops in self._chains_before.hops.tolist()}
        chains = enumerate_chains(graph, -np.expm1(-self._state.document_log), settings)
        over = np.flatnonzero(chains.risk_before > settings.max_chain_risk + TOLERANCE)
        return [
            self._chain(
                chains, number, settings.max_chain_risk, settings.edge_threshold
            )
            for number in over.tolist()
            if tuple(chains.hops[number].tolist()) not in known
        ]

    def completed(self, masked: Mask) -> Mask:
        """Mask, the most telling first, what a proposal lacks to meet everything."""
        names = set(np.flatnonzero(masked).tolist())
        full = masked.copy()
        unmet = self.requirements
        while unmet:
            for requirement in unmet:
                self._meet(requirement, names)
            full[sorted(names)] = True
            unmet = self.revived(full)
        return full

    def _meet(self, requirement: Requirement, masked: set[int]) -> None:
        """Mask what one requirement lacks, the most telling first."""
        if not requirement.unmet(masked):
            return
        left = set(requirement.entities) - masked
        for entity in sorted(left, key=lambda e: (-self.gains[e], e)):
            masked.add(entity)
            if not requirement.unmet(masked):
                return


def _renumbered(chains: Chains, edges: Edges, whole: Edges) -> Table:
    """Return the chains' hops as numbers of edges in the whole graph."""
    count = int(whole.second.max(initial=0)) + 1
    keys = whole.first * count + whole.second
    number = np.searchsorted(keys, edges.first * count + edges.second)
    return (
        np.where(chains.hops >= 0, number[chains.hops], -1)
        if len(number)
        else chains.hops
    )
