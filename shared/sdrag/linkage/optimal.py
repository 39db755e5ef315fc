"""
The cheapest plan, with a proof or a gap.

A covering problem for HiGHS: each round solves the rows known so far, checks the
proposal with the exact formulas, and adds cuts for whatever is still over its ceiling.
A relaxation that meets everything is optimal. Requirements that share no entity are
solved apart. Chains that document-level masking had cut and another choice of
documents' entities would revive are requirements too, found in the proposals; so no
chain of the masked corpus is over `theta_chain`.

The best of the strategies, with all that it does not need taken back, is the plan to
beat. When the time is over the better of the two stands, with the bound reached.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdrag.linkage.chains import Chains, Table, enumerate_chains
from sdrag.linkage.edges import Edges
from sdrag.linkage.incidence import Floats, Incidence
from sdrag.linkage.ledger import TOLERANCE, Ledger, Mask
from sdrag.linkage.requirements import (
    ChainRequirement,
    DocumentRequirement,
    Requirement,
    Row,
    cuts,
)
from sdrag.linkage.selection import Selected
from sdrag.linkage.solver import cheapest
from sdrag.policy import LinkageSection

__all__ = ["Ground", "Solution", "optimise"]

_INTEGRAL = 1e-6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Solution:
    """
    The plan and how good it can be shown to be.

    Args:
        selected: What is masked.
        cost: Of the plan, in entities or mentions.
        bound: No plan costs less.
        seconds: That the search took.
    """

    selected: Selected
    cost: float
    bound: float
    seconds: float

    @property
    def gap(self) -> float:
        """The share of the cost that is not proven necessary; 0 is optimal."""
        return 0.0 if not self.cost else max(0.0, (self.cost - self.bound) / self.cost)


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


def optimise(ground: Ground, starts: Sequence[Selected], costs: Floats) -> Solution:
    """
    Search for the cheapest plan.

    Args:
        ground: What it is made on.
        starts: Plans of the other strategies; the best is the one to beat.
        costs: (entities,) what masking each costs.

    Raises:
        MissingExtraError: The extra `linkage` is not installed.
    """
    began = time.monotonic()
    deadline = began + ground.settings.solver_seconds
    problem = _Problem(ground, costs)
    half = began + ground.settings.solver_seconds / 2
    plans = [problem.trimmed(start.masked, half) for start in starts]
    best = min(plans, key=lambda plan: (problem.cost(plan), plan.tolist()))
    masked, bound = problem.search(best, deadline)
    if masked is not None:
        plans.append(masked)
    best = min(plans, key=lambda plan: (problem.cost(plan), plan.tolist()))
    cost = problem.cost(best)
    return Solution(
        _explained(best, starts, problem),
        cost,
        min(bound, cost),
        time.monotonic() - began,
    )


def _explained(best: Mask, starts: Sequence[Selected], problem: _Problem) -> Selected:
    """Give each masked entity a document or a chain that holds it."""
    selected = Selected(best)
    for entity in np.flatnonzero(best).tolist():
        for start in starts:
            if entity in start.for_document:
                selected.for_document[entity] = start.for_document[entity]
                break
            if entity in start.for_chain:
                selected.for_chain[entity] = start.for_chain[entity]
                break
        else:
            row = problem.corpus.rows_of(entity)[0]
            selected.for_document[entity] = int(problem.corpus.document[row])
    return selected


class _Problem:
    """The requirements of one corpus, growing as proposals show what else is needed."""

    def __init__(self, ground: Ground, costs: Floats) -> None:
        self.corpus, self._settings = ground.corpus, ground.settings
        self._graph, self._certain, self._costs = ground.graph, ground.certain, costs
        self._ledger = Ledger(ground.corpus, ground.graph, ground.certain)
        hops = _renumbered(ground.chains, ground.edges, ground.graph)
        self._frozen = replace(ground.chains, hops=hops)
        self._gains = dict(enumerate(ground.corpus.global_contribution.tolist()))
        self.requirements: list[Requirement] = [*self._documents(), *self._chains()]

    def cost(self, masked: Mask) -> float:
        """Return what a plan costs."""
        return float(self._costs[masked].sum())

    def trimmed(self, masked: Mask, deadline: float) -> Mask:
        """Take back what a plan does not need, the dearest and least useful first."""
        kept = masked.copy()
        names = set(np.flatnonzero(kept).tolist())
        held = self._by_entity()
        free = np.flatnonzero(masked & ~self._certain).tolist()
        for entity in sorted(free, key=lambda e: (-self._costs[e], self._gains[e], e)):
            if time.monotonic() > deadline:
                break
            rest = names - {entity}
            if any(requirement.unmet(rest) for requirement in held.get(entity, ())):
                continue
            kept[entity] = False
            if self._new_chains(kept):
                kept[entity] = True
            else:
                names = rest
        return kept

    def search(self, known: Mask, deadline: float) -> tuple[Mask | None, float]:
        """
        Return the cheapest plan found, if one was, and the bound on any.

        Args:
            known: A plan to beat.
            deadline: When to stop, on the monotonic clock.
        """
        solved: dict[frozenset[int], tuple[set[int], float]] = {}
        rows: dict[int, list[Row]] = {}
        while True:
            parts = sorted(self._parts(), key=lambda part: (len(part), min(part)))
            masked = self._certain.copy()
            bound = self.cost(masked)
            for part in parts:
                if part not in solved:
                    best = {entity for entity in self._of(part) if known[entity]}
                    solved[part] = self._solve(part, best, rows, deadline)
                chosen, reached = solved[part]
                bound += reached
                masked[sorted(chosen)] = True
            revived = self._new_chains(masked)
            if not revived:
                return masked, bound
            if time.monotonic() > deadline:
                return None, bound
            self.requirements.extend(revived)

    def _of(self, part: frozenset[int]) -> list[int]:
        """Return the entities of a part."""
        held = (self.requirements[number].entities for number in part)
        return sorted({entity for entities in held for entity in entities})

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

    def _new_chains(self, masked: Mask) -> list[Requirement]:
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

    def _by_entity(self) -> dict[int, list[Requirement]]:
        held: dict[int, list[Requirement]] = {}
        for requirement in self.requirements:
            for entity in requirement.entities:
                held.setdefault(entity, []).append(requirement)
        return held

    def _parts(self) -> list[frozenset[int]]:
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

    def _solve(
        self,
        part: frozenset[int],
        best: set[int],
        rows: dict[int, list[Row]],
        deadline: float,
    ) -> tuple[set[int], float]:
        """Return the cheapest way found to meet one part, and the bound on any."""
        numbers = sorted(part)
        for number in numbers:
            if number not in rows:
                rows[number] = list(self.requirements[number].rows())
        bound, exact = 0.0, False
        while (left := deadline - time.monotonic()) > 0:
            known = [row for number in numbers for row in rows[number]]
            chosen, reached = cheapest(known, self._costs, left, exact=exact)
            bound = max(bound, reached)
            if chosen is None:
                break
            unmet = [n for n in numbers if self.requirements[n].unmet(chosen)]
            repaired = self._repaired(numbers, chosen, unmet)
            best = min(best, repaired, key=lambda one: (self._price(one), sorted(one)))
            if self._price(best) <= bound + _INTEGRAL or (exact and not unmet):
                break
            exact = not unmet
            for number in unmet:
                requirement = self.requirements[number]
                rows[number].extend(cuts(requirement, chosen, self._gains))
        return best, bound

    def _repaired(
        self, numbers: Sequence[int], chosen: set[int], unmet: Sequence[int]
    ) -> set[int]:
        """Mask what a proposal lacks, and take back what it does not need."""
        masked = set(chosen)
        for number in unmet:
            requirement = self.requirements[number]
            left = sorted(requirement.entities, key=lambda e: (-self._gains[e], e))
            while requirement.unmet(masked):
                masked.add(next(entity for entity in left if entity not in masked))
        if not unmet:
            return masked
        held: dict[int, list[Requirement]] = {}
        for number in numbers:
            for entity in self.requirements[number].entities:
                held.setdefault(entity, []).append(self.requirements[number])
        for entity in sorted(
            masked, key=lambda e: (-self._costs[e], self._gains[e], e)
        ):
            rest = masked - {entity}
            if not any(requirement.unmet(rest) for requirement in held[entity]):
                masked = rest
        return masked

    def _price(self, entities: set[int]) -> float:
        return float(sum(self._costs[entity] for entity in entities))


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
