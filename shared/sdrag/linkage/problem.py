"""
What a plan of one corpus must meet, growing as proposals show what else is needed.

A chain that document-level masking cut is revived where another choice of documents'
entities leaves its link alone; then it must be at or under `theta_chain`. Where there
are few such chains all are required from the start, otherwise as they come up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
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

__all__ = ["Ground", "Problem"]

_UPFRONT = 5000
_DIGITS = 9


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ground:
    """
    What a plan is made on.

    Args:
        corpus: The documents and their entities.
        settings: The ceilings and the time limit.
        certain: (entities,) what every plan masks.
        graph: Pruned, with nothing masked but `certain`.
        edges: The graph after document-level masking.
        chains: Frozen on `edges`.
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
        ground: What plans are made on.
        costs: (entities,) what masking each costs.
    """

    def __init__(self, ground: Ground, costs: Floats) -> None:
        self.corpus, self._settings = ground.corpus, ground.settings
        self._graph, self.certain, self.costs = ground.graph, ground.certain, costs
        self._ledger = RiskState(ground.corpus, ground.graph, ground.certain)
        hops = _renumbered(ground.chains, ground.edges, ground.graph)
        self._frozen = replace(ground.chains, hops=hops)
        self.gains = dict(enumerate(ground.corpus.global_contribution.tolist()))
        self.requirements: list[Requirement] = [*self._documents(), *self._chains()]
        self.requirements.extend(self._known_revivals())

    def cost(self, masked: Mask) -> float:
        """Return what a plan costs."""
        return float(self.costs[masked].sum())

    def rank(self, entities: set[int]) -> tuple[float, float, list[int]]:
        """Return what plans are compared by: cost, how telling it is, entity ids."""
        order = sorted(entities)
        cost = math.fsum(float(self.costs[entity]) for entity in order)
        telling = math.fsum(self.gains[entity] for entity in order)
        return cost, -round(telling, _DIGITS), order

    def dearest(self, entities: Iterable[int]) -> list[int]:
        """Return entities in the order of taking back: dear and least telling first."""
        return sorted(entities, key=lambda e: (-self.costs[e], self.gains[e], e))

    def trimmed(self, masked: Mask, deadline: float) -> Mask:
        """Take back what a plan does not need, the dearest and least useful first."""
        kept = masked.copy()
        names = set(np.flatnonzero(kept).tolist())
        held = self.by_entity()
        free = np.flatnonzero(masked & ~self.certain).tolist()
        for entity in self.dearest(free):
            if time.monotonic() > deadline:
                break
            rest = names - {entity}
            if any(requirement.unmet(rest) for requirement in held.get(entity, ())):
                continue
            kept[entity] = False
            if self.revived(kept):
                kept[entity] = True
            else:
                names = rest
        return kept

    def _documents(self) -> list[Requirement]:
        risk = -np.expm1(-self._ledger.document_log)
        ceiling = self._settings.max_document_risk
        found: list[Requirement] = []
        for document in np.flatnonzero(risk > ceiling + TOLERANCE).tolist():
            logs = self._ledger.active(document)
            found.append(DocumentRequirement.of(logs, ceiling, self._maskable(logs)))
        return [requirement for requirement in found if requirement.unmet(set())]

    def _chains(self) -> list[Requirement]:
        numbers = np.arange(len(self._frozen))
        risks = self._ledger.chain_risks(self._frozen, numbers)
        over = np.flatnonzero(risks > self._frozen.ceiling + TOLERANCE).tolist()
        found = [
            self._chain(self._frozen, number, float(self._frozen.ceiling[number]))
            for number in over
        ]
        return [requirement for requirement in found if requirement.unmet(set())]

    def _chain(
        self, chains: Chains, number: int, ceiling: float, breaks_below: float = 0.0
    ) -> ChainRequirement:
        local = self._ledger.local(chains, number)
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
        frozen = {tuple(hops) for hops in self._frozen.hops.tolist()}
        chains = enumerate_chains(
            graph, -np.expm1(-self._ledger.document_log), settings
        )
        over = np.flatnonzero(chains.risk_before > settings.max_chain_risk + TOLERANCE)
        return [
            self._chain(
                chains, number, settings.max_chain_risk, settings.edge_threshold
            )
            for number in over.tolist()
            if tuple(chains.hops[number].tolist()) not in frozen
        ]

    def completed(self, masked: Mask) -> Mask:
        """Mask, the most telling first, what a proposal lacks to meet everything."""
        names = set(np.flatnonzero(masked).tolist())
        full = masked.copy()
        wanting = self.requirements
        while wanting:
            for requirement in wanting:
                self.meet(requirement, names)
            full[sorted(names)] = True
            wanting = self.revived(full)
        return full

    def meet(self, requirement: Requirement, masked: set[int]) -> None:
        """Mask what one requirement lacks, the most telling first."""
        if not requirement.unmet(masked):
            return
        left = set(requirement.entities) - masked
        for entity in sorted(left, key=lambda e: (-self.gains[e], e)):
            masked.add(entity)
            if not requirement.unmet(masked):
                return

    def by_entity(self) -> dict[int, list[Requirement]]:
        """Return the requirements that each entity bears on."""
        held: dict[int, list[Requirement]] = {}
        for requirement in self.requirements:
            for entity in requirement.entities:
                held.setdefault(entity, []).append(requirement)
        return held

    def parts(self) -> list[frozenset[int]]:
        """Return the requirements, by number, in sets that share no entity."""
        import networkx as nx  # noqa: PLC0415 -- light rooms need no graph library

        graph = nx.Graph()
        for number, requirement in enumerate(self.requirements):
            graph.add_node(("requirement", number))
            graph.add_edges_from(
                (("requirement", number), ("entity", entity))
                for entity in requirement.entities
            )
        return sorted(
            (
                frozenset(number for kind, number in part if kind == "requirement")
                for part in nx.connected_components(graph)
            ),
            key=min,
        )


def _renumbered(chains: Chains, edges: Edges, whole: Edges) -> Table:
    """Return the chains' hops as numbers of edges in the whole graph."""
    count = int(whole.second.max(initial=0)) + 1
    keys = whole.first * count + whole.second
    place = np.searchsorted(keys, edges.first * count + edges.second)
    return (
        np.where(chains.hops >= 0, place[chains.hops], -1)
        if len(place)
        else chains.hops
    )
