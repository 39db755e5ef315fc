"""
What is masked, and what that leaves of every risk: the one mutable thing in a plan.

Masking an entity subtracts its logarithm from the documents and edges that hold it,
so a plan costs what it touches and nothing is recomputed from the start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdrag.linkage.graph import Chains, Edges
from sdrag.linkage.incidence import Floats, Incidence, Ints, Mask

__all__ = ["TOLERANCE", "LocalChain", "RiskState"]

TOLERANCE = 1e-12
"""A risk this far over its ceiling is on it: sums of logarithms round."""


class RiskState:
    """
    The running state of one plan.

    Args:
        corpus: The documents and their entities.
        edges: The graph whose edges are tracked.
        masked: (entities,) what is masked to begin with; copied. The graph's own
            logarithms must be those of this state.
    """

    def __init__(self, corpus: Incidence, edges: Edges, masked: Mask) -> None:
        self.corpus = corpus
        self.edges = edges
        self.masked = masked.copy()
        logs = np.where(masked[corpus.entity], 0.0, corpus.log_contribution)
        self.document_log: Floats = np.bincount(
            corpus.document, logs, len(corpus.document_ids)
        ).astype(float)
        self.edge_log = edges.log.copy()
        self._via_order = np.argsort(edges.via_entity, kind="stable")
        self._via_starts = np.searchsorted(
            edges.via_entity[self._via_order], np.arange(len(corpus.entity_ids) + 1)
        )

    def mask(self, entity: int) -> None:
        """Mask an entity everywhere."""
        if self.masked[entity]:
            return
        self.masked[entity] = True
        rows = self.corpus.rows_of(entity)
        documents = self.corpus.document[rows]
        self.document_log[documents] -= self.corpus.log_contribution[rows]
        low, high = self._via_starts[entity], self._via_starts[entity + 1]
        links = self._via_order[low:high]
        self.edge_log[self.edges.via_edge[links]] -= self.edges.via_log[links]

    def chain_risks(self, chains: Chains, chosen: Ints) -> Floats:
        """Return the risks of some chains in this state."""
        hops = chains.hops[chosen]
        used = np.maximum(hops, 0)
        first = np.exp(-self.document_log[self.edges.first[used]])
        second = np.exp(-self.document_log[self.edges.second[used]])
        strength = -np.expm1(-self.edge_log[used])
        risk = strength * (1.0 + (1.0 - (first + second) / 2.0)) / 2.0
        return np.asarray(1.0 - np.prod(np.where(hops >= 0, 1.0 - risk, 1.0), axis=1))

    def local(self, chains: Chains, number: int) -> LocalChain:
        """Return a chain with everything that bears on it."""
        ends = self.edges.ends(chains.hops[number])
        logs_of = {
            document: self.active(document)
            for document in {d for pair in ends for d in pair}
        }
        return LocalChain.of(ends, logs_of)

    def active(self, document: int) -> dict[int, float]:
        """Return `-log(1 - c)` of each entity of a document that is not masked."""
        low, high = self.corpus.starts[document], self.corpus.starts[document + 1]
        entities = self.corpus.entity[low:high].tolist()
        logs = self.corpus.log_contribution[low:high].tolist()
        return {
            entity: log
            for entity, log in zip(entities, logs, strict=True)
            if not self.masked[entity]
        }


@dataclass(frozen=True, slots=True)
class LocalChain:
    """
    One chain in isolation, so that a masking can be tried without doing it.

    Args:
        hops: For each hop its two documents, as indices into `documents`.
        documents: For each document, `-log(1 - c)` of each active entity.
        shared: For each hop, `-log(1 - s_e)` of each active shared entity.
    """

    hops: Sequence[tuple[int, int]]
    documents: Sequence[Mapping[int, float]]
    shared: Sequence[Mapping[int, float]]

    @classmethod
    def of(
        cls, ends: Sequence[tuple[int, int]], logs_of: Mapping[int, Mapping[int, float]]
    ) -> LocalChain:
        """Build from pairs of documents and what each document holds."""
        index = {document: index for index, document in enumerate(sorted(logs_of))}
        shared = [
            {
                entity: max(log, logs_of[second][entity])
                for entity, log in logs_of[first].items()
                if entity in logs_of[second]
            }
            for first, second in ends
        ]
        hops = [(index[first], index[second]) for first, second in ends]
        return cls(hops, [logs_of[document] for document in sorted(logs_of)], shared)

    @property
    def entities(self) -> list[int]:
        """The active entities, ascending."""
        return sorted({entity for logs_of in self.documents for entity in logs_of})

    def risk(self, without: frozenset[int] | set[int] = frozenset()) -> float:
        """Return the chain's risk once `without` is masked."""
        survive = [math.exp(-_sum(logs_of, without)) for logs_of in self.documents]
        kept = 1.0
        for (first, second), shared in zip(self.hops, self.shared, strict=True):
            strength = -math.expm1(-_sum(shared, without))
            mean = 1.0 - (survive[first] + survive[second]) / 2.0
            kept *= 1.0 - strength * (1.0 + mean) / 2.0
        return 1.0 - kept

    def without(self, entities: set[int]) -> LocalChain:
        """Return the chain after masking."""
        return LocalChain(
            self.hops,
            [_less(logs_of, entities) for logs_of in self.documents],
            [_less(logs_of, entities) for logs_of in self.shared],
        )

    def impacts(self, entities: Sequence[int]) -> dict[int, float]:
        """Return how much masking each entity, alone, would lower the risk."""
        risk = self.risk()
        return {entity: risk - self.risk({entity}) for entity in entities}


def _less(logs: Mapping[int, float], entities: set[int]) -> Mapping[int, float]:
    return {entity: log for entity, log in logs.items() if entity not in entities}


def _sum(logs: Mapping[int, float], without: frozenset[int] | set[int]) -> float:
    return math.fsum(log for entity, log in logs.items() if entity not in without)
