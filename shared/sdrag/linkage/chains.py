"""
Chains of linked documents, enumerated once (CLAM, sections 4.2.3 and 4.2.4).

A chain is a simple path in the document graph as it is after document-level masking;
with `chain_shape: subgraph` it is any connected group, see `subgraphs`. Its risk at
that moment, its category and the ceiling that follows are fixed here, for every
strategy alike. Chains of two documents are the edges; longer ones are grown from them,
breadth first, up to a bound. What the bound left out is counted and never forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sdrag.linkage.edges import Edges
from sdrag.linkage.incidence import Floats, Ints
from sdrag.linkage.subgraphs import connected_groups
from sdrag.policy import LinkageSection

__all__ = ["LEVELS", "Chains", "Table", "enumerate_chains", "hop_risks", "path_risks"]

LEVELS = ("LOW", "MEDIUM", "HIGH")
"""Names of the categories, by their number."""

_ROUND = 12
Table = np.ndarray[tuple[int, int], np.dtype[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class Chains:
    """
    The chains of a graph and what they may keep.

    Args:
        hops: (chains, most hops) edge numbers, -1 where a chain is shorter.
        risk_before: (chains,) after document-level masking.
        level: (chains,) an index into `LEVELS`.
        ceiling: (chains,) the most risk it may keep.
        left_out: How many chains of each length were not enumerated; an upper bound.
        spared: How many were under their ceiling and not kept, by category.
    """

    hops: Table
    risk_before: Floats
    level: Ints
    ceiling: Floats
    left_out: Mapping[int, int]
    spared: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.hops)


def hop_risks(edges: Edges, edge_log: Floats, survive: Floats) -> Floats:
    """
    Return the hop risk of every edge.

    Args:
        edges: The graph.
        edge_log: (edges,) `-log(1 - strength)` as it is.
        survive: (documents,) `1 - R(d)` as it is.
    """
    mean = 1.0 - (survive[edges.first] + survive[edges.second]) / 2.0
    return np.asarray(-np.expm1(-edge_log) * (1.0 + mean) / 2.0)


def path_risks(hops: Table, hop_risk: Floats) -> Floats:
    """Return the risk of each path over edges, given the risk of every edge."""
    survive = 1.0 - np.append(hop_risk, 0.0)
    return np.asarray(1.0 - np.prod(survive[hops], axis=1))


def enumerate_chains(
    edges: Edges, document_risk: Floats, settings: LinkageSection
) -> Chains:
    """
    Enumerate the chains of two documents and more, with their ceilings.

    Args:
        edges: The pruned graph.
        document_risk: (documents,) after document-level masking.
        settings: For the length, the bound and the thresholds.
    """
    risk = hop_risks(edges, edges.log, 1.0 - document_risk)
    if settings.chain_shape == "subgraph":
        length, most = settings.chain_length, settings.max_chains
        paths, left_out = connected_groups(edges, risk, length, most)
    else:
        paths, left_out = _paths(edges, risk, settings)
    before = path_risks(paths, risk)
    high = before >= settings.risk_thresholds.high
    medium = before >= settings.risk_thresholds.medium
    level = high.astype(np.int64) + (medium | high)
    factor = np.where(
        high, settings.chain_risk_factor.high, settings.chain_risk_factor.medium
    )
    absolute = np.full(len(before), settings.max_chain_risk)
    ceiling = np.where(level > 0, np.minimum(absolute, factor * before), absolute)
    return Chains(paths, before, level, ceiling, left_out)


def _paths(
    edges: Edges, risk: Floats, settings: LinkageSection
) -> tuple[Table, Mapping[int, int]]:
    """Return paths as edge numbers, shortest first, and how many were left out."""
    width = settings.chain_length - 1
    found = [_padded(np.arange(len(edges))[:, None], width)]
    left_out: dict[int, int] = {}
    if width == 1:
        return found[0], left_out
    grow = _Growing(edges, risk)
    documents, hops = grow.start()
    for length in range(3, settings.chain_length + 1):
        budget = settings.max_chains - sum(len(part) for part in found)
        lost = left_out.get(length - 1, 0)
        documents, hops, missed = grow.lengthened(documents, hops, max(budget, 0) * 2)
        if missed or lost:
            left_out[length] = missed + 2 * lost * grow.degree
        canonical = documents[:, 0] < documents[:, -1]
        found.append(_padded(hops[canonical], width))
    return np.concatenate(found), left_out


def _padded(hops: Table, width: int) -> Table:
    return np.pad(hops, ((0, 0), (0, width - hops.shape[1])), constant_values=-1)


class _Growing:
    """Lengthens paths by one document; each occurs once in either direction."""

    def __init__(self, edges: Edges, risk: Floats) -> None:
        self._source = np.concatenate((edges.first, edges.second))
        self._target = np.concatenate((edges.second, edges.first))
        self._edge = np.tile(np.arange(len(edges)), 2)
        order = np.argsort(self._source, kind="stable")
        self._source, self._target = self._source[order], self._target[order]
        self._edge, self._risk = self._edge[order], risk
        count = int(self._source.max(initial=-1)) + 2
        self._starts = np.searchsorted(self._source, np.arange(count))

    @property
    def degree(self) -> int:
        """The most links that a document has."""
        return int(np.diff(self._starts).max(initial=0))

    def start(self) -> tuple[Table, Table]:
        """Return the paths of two documents and their edges."""
        return np.stack((self._source, self._target), axis=1), self._edge[:, None]

    def lengthened(
        self, documents: Table, hops: Table, budget: int
    ) -> tuple[Table, Table, int]:
        """
        Return longer paths, riskiest first where not all fit, and what is missed.

        Args:
            documents: (paths, documents) of each path.
            hops: (paths, hops) its edges.
            budget: How many paths may be returned.
        """
        last = documents[:, -1]
        count = self._starts[last + 1] - self._starts[last]
        missed = 0
        if int(count.sum()) > budget:
            risky = np.argsort(
                -np.round(path_risks(hops, self._risk), _ROUND), kind="stable"
            )
            fits = risky[np.cumsum(count[risky]) <= budget]
            missed = (int(count.sum()) - int(count[fits].sum()) + 1) // 2
            documents, hops = documents[np.sort(fits)], hops[np.sort(fits)]
            last, count = documents[:, -1], count[np.sort(fits)]
        parent = np.repeat(np.arange(len(last)), count)
        offset = np.arange(len(parent)) - np.repeat(np.cumsum(count) - count, count)
        step = np.repeat(self._starts[last], count) + offset
        target = self._target[step]
        simple = ~(documents[parent] == target[:, None]).any(axis=1)
        parent, step = parent[simple], step[simple]
        longer = np.column_stack((documents[parent], self._target[step]))
        return longer, np.column_stack((hops[parent], self._edge[step])), missed
