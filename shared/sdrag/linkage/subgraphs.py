"""
Chains as connected groups of documents, and not only paths (CLAM, section 4.2.3).

A group of documents is connected by links, and all links among them are its hops. So
three documents that are linked with each other are one chain of three hops, where they
are three paths of two. Groups are grown by one document at a time, each held once, up
to a bound; what the bound left out is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from sdrag.linkage.edges import Edges
from sdrag.linkage.incidence import Floats, Ints

__all__ = ["connected_groups"]

_ROUND = 12
Table = np.ndarray[tuple[int, int], np.dtype[np.int64]]


def connected_groups(
    edges: Edges, hop_risk: Floats, length: int, most: int
) -> tuple[Table, Mapping[int, int]]:
    """
    Return the hops of every connected group, smallest first, and what was left out.

    Args:
        edges: The pruned graph.
        hop_risk: (edges,) of every edge; where not all fit, the riskiest are kept.
        length: The most documents of a group.
        most: How many groups there may be.

    Returns:
        (groups, pairs of documents) edge numbers, -1 where two are not linked; and for
        each number of documents an upper bound on the groups that are missing.
    """
    graph = _Graph(edges, hop_risk)
    groups: Table = np.stack((edges.first, edges.second), axis=1)
    width = length * (length - 1) // 2
    found = [_padded(graph.hops(groups), width)]
    left_out: dict[int, int] = {}
    for size in range(3, length + 1):
        room = max(most - sum(map(len, found)), 0)
        lost = left_out.get(size - 1, 0)
        groups, missed = graph.grown(groups, room)
        if missed or lost:
            left_out[size] = missed + lost * (size - 1) * graph.degree
        found.append(_padded(graph.hops(groups), width))
    return np.concatenate(found), left_out


def _padded(hops: Table, width: int) -> Table:
    return np.pad(hops, ((0, 0), (0, width - hops.shape[1])), constant_values=-1)


class _Graph:
    """The links of each document, and the link of each pair of documents."""

    def __init__(self, edges: Edges, hop_risk: Floats) -> None:
        source = np.concatenate((edges.first, edges.second))
        target = np.concatenate((edges.second, edges.first))
        order = np.argsort(source, kind="stable")
        self._target = target[order]
        self._count = int(source.max(initial=-1)) + 2
        self._starts = np.searchsorted(source[order], np.arange(self._count + 1))
        keys = edges.first * self._count + edges.second
        self._edge = np.argsort(keys, kind="stable")
        self._keys = keys[self._edge]
        self._survive = 1.0 - np.append(hop_risk, 0.0)

    @property
    def degree(self) -> int:
        """The most links that a document has."""
        return int(np.diff(self._starts).max(initial=0))

    def hops(self, groups: Table) -> Table:
        """Return the links among the documents of each group, -1 for none."""
        columns = [
            self._between(groups[:, left], groups[:, right])
            for left, right in combinations(range(groups.shape[1]), 2)
        ]
        return np.stack(columns, axis=1)

    def grown(self, groups: Table, room: int) -> tuple[Table, int]:
        """
        Return all groups of one document more, and how many at most are missing.

        Args:
            groups: (groups, documents), ascending within a group.
            room: How many may be returned.
        """
        size = groups.shape[1]
        count = (self._starts[groups + 1] - self._starts[groups]).sum(axis=1)
        missed = 0
        if int(count.sum()) > room * size:
            order = self._riskiest(groups)
            fits = np.sort(order[np.cumsum(count[order]) <= room * size])
            missed = int(count.sum()) - int(count[fits].sum())
            groups = groups[fits]
        parts = [self._with_neighbours(groups, column) for column in range(size)]
        larger: Table = np.unique(np.concatenate(parts), axis=0)
        if len(larger) > room:
            missed += len(larger) - room
            larger = larger[np.sort(self._riskiest(larger)[:room])]
        return larger, missed

    def _with_neighbours(self, groups: Table, column: int) -> Table:
        """Return each group with each document that one of its own is linked with."""
        member = groups[:, column]
        count = self._starts[member + 1] - self._starts[member]
        parent = np.repeat(np.arange(len(groups)), count)
        offset = np.arange(len(parent)) - np.repeat(np.cumsum(count) - count, count)
        new = self._target[np.repeat(self._starts[member], count) + offset]
        outside = ~(groups[parent] == new[:, None]).any(axis=1)
        larger = np.column_stack((groups[parent[outside]], new[outside]))
        return np.sort(larger, axis=1)

    def _riskiest(self, groups: Table) -> Ints:
        risk = 1.0 - np.prod(self._survive[self.hops(groups)], axis=1)
        return np.argsort(-np.round(risk, _ROUND), kind="stable")

    def _between(self, left: Ints, right: Ints) -> Ints:
        if not len(self._keys):
            return np.full(len(left), -1)
        key = left * self._count + right
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where(self._keys[place] == key, self._edge[place], -1)
