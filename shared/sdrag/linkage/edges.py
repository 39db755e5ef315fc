"""
The document graph: found exactly, kept as hubs, looked at in blocks.

An entity that passes the threshold alone links every two documents that hold it: a hub
of f documents is a clique of f (f - 1) / 2 links. So the graph is kept as the corpus
itself, the documents of each entity, which is linear in the mentions. `Links.blocks`
goes through the links a block at a time, each exactly once, with its strength and what
it rests on; only a caller that needs all of them at once expands them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdrag.errors import InputTooLargeError
from sdrag.linkage.incidence import Floats, Incidence, Ints, neglog
from sdrag.linkage.linked_pairs import (
    SLACK,
    Pairs,
    Shared,
    candidates,
    intersect,
    ranked,
)

__all__ = ["MOST_EDGES", "Edges", "Links", "blocks_of", "find_edges", "joined"]

_TOLERANCE = 1e-12
MOST_EDGES = 100_000_000
"""More links than this are not expanded: their columns would take ten gigabytes."""

Chosen = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False, repr=False)
class Edges:
    """
    Some or all edges of the document graph as columns.

    Args:
        first: (edges,) the lower document number.
        second: (edges,) the higher one.
        log: (edges,) `-log(1 - strength)`.
        via_edge: (links,) the edge of each shared entity, ascending.
        via_entity: (links,) the entity.
        via_log: (links,) `-log(1 - s_e)`.
    """

    first: Ints
    second: Ints
    log: Floats
    via_edge: Ints
    via_entity: Ints
    via_log: Floats

    def __len__(self) -> int:
        return len(self.first)

    @property
    def strength(self) -> Floats:
        """(edges,) from 0 to 1."""
        return np.asarray(-np.expm1(-self.log))

    def without(self, masked: Chosen, threshold: float) -> Edges:
        """Return the graph after masking, pruned again."""
        keep = ~masked[self.via_entity]
        edge, entity = self.via_edge[keep], self.via_entity[keep]
        value = self.via_log[keep]
        log: Floats = np.bincount(edge, value, len(self)).astype(float)
        alive = (np.bincount(edge, minlength=len(self)) > 0) & (
            -np.expm1(-log) >= threshold - _TOLERANCE
        )
        pruned = Edges(self.first, self.second, log, edge, entity, value)
        return pruned.only(alive)

    def only(self, chosen: Chosen) -> Edges:
        """Return the chosen edges."""
        number = np.cumsum(chosen) - 1
        kept = chosen[self.via_edge]
        return Edges(
            self.first[chosen],
            self.second[chosen],
            self.log[chosen],
            number[self.via_edge[kept]],
            self.via_entity[kept],
            self.via_log[kept],
        )


class Links:
    """
    All edges at or above a threshold, kept as hubs.

    Args:
        corpus: The documents and their entities.
        threshold: The least strength, from 0 to 1.
    """

    def __init__(self, corpus: Incidence, threshold: float) -> None:
        self.corpus, self.threshold = corpus, threshold

    def blocks(self) -> Iterator[Edges]:
        """Yield the edges in blocks of no order, each edge in one of them."""
        yield from blocks_of(ranked(self.corpus), self.threshold)

    @cached_property
    def count(self) -> int:
        """How many edges there are."""
        return sum(len(block) for block in self.blocks())

    def expanded(self) -> Edges:
        """
        Return all edges at once, by ascending documents.

        Raises:
            InputTooLargeError: There are more than fit into memory.
        """
        parts: list[Edges] = []
        count = 0
        for block in self.blocks():
            parts.append(block)
            count += len(block)
            if count > MOST_EDGES:
                raise InputTooLargeError(
                    f"More than {MOST_EDGES} links pass the edge threshold.",
                    hint="Raise `linkage.edge_threshold`.",
                )
        return joined(parts)


def blocks_of(
    shared: Shared, threshold: float, part: tuple[int, int] = (0, 1)
) -> Iterator[Edges]:
    """Yield the edges in blocks; of one part, as `candidates` says."""
    need = float(neglog(np.array([threshold]))[0]) - SLACK
    for pairs in candidates(shared, need, part):
        found = _checked(shared, pairs, threshold)
        if len(found):
            yield found


def find_edges(corpus: Incidence, threshold: float) -> Edges:
    """Find all edges at or above a threshold; see `Links.expanded`."""
    return Links(corpus, threshold).expanded()


def joined(parts: Sequence[Edges]) -> Edges:
    """Put blocks together, edges by ascending documents."""
    if not parts:
        none, zero = np.zeros(0, np.int64), np.zeros(0)
        return Edges(none, none, zero, none, none, zero)
    shift = np.cumsum([0] + [len(part) for part in parts])
    first = np.concatenate([part.first for part in parts])
    second = np.concatenate([part.second for part in parts])
    order = np.lexsort((second, first))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    edge = number[
        np.concatenate(
            [p.via_edge + start for p, start in zip(parts, shift[:-1], strict=True)]
        )
    ]
    by_edge = np.argsort(edge, kind="stable")
    return Edges(
        first[order],
        second[order],
        np.concatenate([part.log for part in parts])[order],
        edge[by_edge],
        np.concatenate([part.via_entity for part in parts])[by_edge],
        np.concatenate([part.via_log for part in parts])[by_edge],
    )


def _checked(shared: Shared, pairs: Pairs, threshold: float) -> Edges:
    """Keep pairs that pass, and that came by their own prefix."""
    pair, rank, value = intersect(shared, pairs)
    log = neglog(value)
    count = len(pairs.first)
    total: Floats = np.bincount(pair, log, count).astype(float)
    first_by_own_prefix = (
        np.bincount(pair[rank <= pairs.last[pair]], minlength=count) == pairs.depth
    )
    passing = first_by_own_prefix & (-np.expm1(-total) >= threshold - _TOLERANCE)
    entity = shared.entity_of_rank[rank]
    return Edges(pairs.first, pairs.second, total, pair, entity, log).only(passing)
