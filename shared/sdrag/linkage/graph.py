"""
Links of documents, and chains of linked documents (CLAM, section 4.2.3).

With the contribution `c(e, d)` and the document risk `R(d)` of `incidence`:

- strength of a link `1 - prod(1 - max(c(e, d1), c(e, d2)))` over shared entities
- hop risk `strength * (1 + (R(d1) + R(d2)) / 2) / 2`
- chain risk `1 - prod(1 - hop risk)`

Links are found by the prefix filter of exact all-pairs similarity search. In each
document entities are sorted by descending `s_e`. A pair that reaches the threshold
shares an entity of the prefix, from which on the rest of the document can still reach
it. Only such pairs are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np

from sdrag.errors import InputTooLargeError
from sdrag.linkage.incidence import Floats, Incidence, Ints, Mask, Table, neglog
from sdrag.policy import LinkageSection

LEVELS = ("LOW", "MEDIUM", "HIGH")
"""Names of the categories of chains, by their number."""

MOST_EDGES = 20_000_000
"""More links than this are refused: their columns would take gigabytes."""

TOLERANCE = 1e-12
"""A risk this far over its ceiling is on it: sums of logarithms round."""
_SLACK = 1e-9
"""Bounds are loosened by this much, so rounding never loses a pair."""
_BLOCK = 250_000
"""Pairs that are looked at together; bounds the memory."""


@dataclass(frozen=True, eq=False, repr=False)
class Edges:
    """
    The links of a corpus as columns, by ascending documents.

    Args:
        first: (edges,) the lower document number.
        second: (edges,) the higher one.
        log: (edges,) `-log(1 - strength)`.
        via_edge: (shared,) the edge of each shared entity, ascending.
        via_entity: (shared,) the entity.
        via_log: (shared,) what it adds to `log`.
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

    def log_without(self, masked: Mask) -> Floats:
        """Return (edges,) `-log(1 - strength)` after masking."""
        keep = ~masked[self.via_entity]
        edge, log = self.via_edge[keep], self.via_log[keep]
        return np.bincount(edge, log, len(self)).astype(float)

    def without(self, masked: Mask, threshold: float) -> Edges:
        """Return the links that are left after masking."""
        keep = ~masked[self.via_entity]
        edge, entity, via = (
            self.via_edge[keep],
            self.via_entity[keep],
            self.via_log[keep],
        )
        log = self.log_without(masked)
        left = Edges(self.first, self.second, log, edge, entity, via)
        alive = np.bincount(edge, minlength=len(self)) > 0
        return left.only(alive & (-np.expm1(-log) >= threshold - TOLERANCE))

    def only(self, chosen: Mask) -> Edges:
        """Return the chosen links."""
        kept = chosen[self.via_edge]
        return Edges(
            self.first[chosen],
            self.second[chosen],
            self.log[chosen],
            (np.cumsum(chosen) - 1)[self.via_edge[kept]],
            self.via_entity[kept],
            self.via_log[kept],
        )


def find_edges(corpus: Incidence, threshold: float) -> Edges:
    """Find all links at or above a threshold; what counts nothing links nothing."""
    most = neglog(corpus.global_contribution)
    order = np.argsort(-most, kind="stable")  # the same on every processor
    kept = (corpus.frequency[corpus.entity] > 1) & (corpus.contribution > 0)
    row, column = corpus.document[kept], np.argsort(order)[corpus.entity[kept]]
    by = np.lexsort((column, row))
    row, column, value = row[by], column[by], corpus.contribution[kept][by]
    starts = np.searchsorted(row, np.arange(len(corpus.document_ids) + 1))
    key = row * len(order) + column
    need = float(neglog(np.array([threshold]))[0]) - _SLACK
    none, zero = np.zeros(0, np.int64), np.zeros(0)
    parts = [Edges(none, none, zero, none, none, zero)]
    for left, right, last, depth in _pairs(row, column, most[order][column], need):
        pair, at = _ranges(starts[left], starts[left + 1])
        wanted = right[pair] * len(order) + column[at]
        other = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        shared = key[other] == wanted
        pair, at, other = pair[shared], at[shared], other[shared]
        via = neglog(np.maximum(value[at], value[other]))
        log = np.bincount(pair, via).astype(float)  # each pair shares an entity
        before = np.bincount(pair[column[at] <= last[pair]])
        alive = (before == depth) & (-np.expm1(-log) >= threshold - TOLERANCE)
        part = Edges(left, right, log, pair, order[column[at]], via)
        parts.append(part.only(alive))
        if sum(map(len, parts)) > MOST_EDGES:
            raise InputTooLargeError(
                f"More than {MOST_EDGES:,} links pass the edge threshold.",
                hint="Raise `linkage.edge_threshold`.",
            )
    return _join(parts)


def _pairs(
    row: Ints, column: Ints, bound: Floats, need: float
) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """
    Yield pairs of documents that may reach `need`, by what they share first.

    That is one entity where it can suffice alone, else two. Of each pair the higher of
    these is yielded too, and how many they are.
    """
    sums = np.append(np.cumsum(bound[::-1])[::-1], 0.0)
    ends = np.searchsorted(row, row, "right")
    rest = sums[:-1] - sums[ends]
    can = np.flatnonzero(rest >= need)
    can = can[np.argsort(column[can], kind="stable")]
    alone = bound[can] >= need
    begin, end = np.where(alone, can, can + 1), np.where(alone, can + 1, ends[can])
    for part in _blocks(end - begin, column[can]):
        owner, second = _ranges(begin[part], end[part])
        first = can[part][owner]
        alive = (first == second) | (bound[first] + rest[second] >= need)
        first, second = first[alive], second[alive]
        by = np.lexsort((column[second], column[first]))
        first, second = first[by], second[by]
        code = column[first] * (column.max(initial=-1) + 1) + column[second]
        same = np.searchsorted(code, code, "right")
        for some in _blocks(same - np.arange(len(code)) - 1, np.arange(len(code))):
            left, right = _ranges(some + 1, same[some])
            left = some[left]
            depth = 1 + (first[left] != second[left])
            yield row[first[left]], row[first[right]], column[second[left]], depth


def _blocks(costs: Ints, group: Ints) -> list[Ints]:
    """Return numbers in blocks of about equal costs; a group is in one block."""
    last = np.append(group[1:] != group[:-1], True)[: len(group)]
    block = (np.cumsum(costs) // _BLOCK)[last]
    cuts = np.flatnonzero(last)[:-1][np.diff(block) > 0] + 1
    return np.split(np.arange(len(costs)), cuts)


def _ranges(start: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return all numbers of some ranges, after the number of the range of each."""
    length = stop - start
    owner = np.repeat(np.arange(len(start)), length)
    return owner, np.arange(len(owner)) + (stop - np.cumsum(length))[owner]


def _join(parts: Sequence[Edges]) -> Edges:
    """Put parts together, by ascending documents."""
    shift = np.cumsum([0, *map(len, parts)])
    columns = [
        (p.first, p.second, p.log, p.via_edge + at, p.via_entity, p.via_log)
        for p, at in zip(parts, shift.tolist(), strict=False)
    ]
    first, second, log, edge, entity, via = map(
        np.concatenate, zip(*columns, strict=True)
    )
    order = np.lexsort((second, first))
    edge = np.argsort(order)[edge]
    by = np.argsort(edge, kind="stable")
    return Edges(first[order], second[order], log[order], edge[by], entity[by], via[by])


def hop_risks(edges: Edges, log: Floats, document_risk: Floats) -> Floats:
    """
    Return the hop risk of every edge.

    `log`: (edges,) `-log(1 - strength)` as it is.
    """
    mean = (document_risk[edges.first] + document_risk[edges.second]) / 2.0
    return np.asarray(-np.expm1(-log) * (1.0 + mean) / 2.0)


@dataclass(frozen=True, eq=False, repr=False)
class Chains:
    """
    The chains of a graph and what they may keep.

    Args:
        documents: (chains, most documents) in their order, -1 where a chain is shorter.
        hops: (chains, most hops) edge numbers, -1 likewise.
        risk_before: (chains,) after document-level masking.
        level: (chains,) an index into `LEVELS`.
        ceiling: (chains,) the most risk it may keep.
    """

    documents: Table
    hops: Table
    risk_before: Floats
    level: Ints
    ceiling: Floats

    def __len__(self) -> int:
        return len(self.hops)

    def path(self, number: int) -> tuple[int, ...]:
        """Return the documents of a chain, in their order."""
        return tuple(n for n in self.documents[number].tolist() if n >= 0)


def chain_risks(hops: Table, hop_risk: Floats) -> Floats:
    """Return the risk of each chain, given the risk of every edge."""
    survive = 1.0 - np.append(hop_risk, 0.0)
    return np.asarray(1.0 - np.prod(survive[hops], axis=1))


def find_chains(
    edges: Edges, document_risk: Floats, settings: LinkageSection
) -> Chains:
    """
    Find the chains: simple paths of two documents and more, with their ceilings.

    `document_risk`: (documents,) after document-level masking.

    Raises:
        InputTooLargeError: There are more than `max_chains` of three documents or more.
    """
    documents: Table = np.stack((edges.first, edges.second), axis=1)
    hops: Table = np.arange(len(edges))[:, None]
    if settings.chain_length > 2:
        documents, hops = _longer(documents.tolist(), settings)
    before = chain_risks(hops, hop_risks(edges, edges.log, document_risk))
    high = before >= settings.risk_thresholds.high
    medium = before >= settings.risk_thresholds.medium
    level = high.astype(np.int64) + (medium | high)
    factors = settings.chain_risk_factor
    relative = np.where(high, factors.high, factors.medium) * before
    absolute = np.full(len(before), settings.max_chain_risk)
    ceiling = np.where(level > 0, np.minimum(absolute, relative), absolute)
    return Chains(documents, hops, before, level, ceiling)


def _longer(
    pairs: Sequence[Sequence[int]], settings: LinkageSection
) -> tuple[Table, Table]:
    """Return the documents and the hops of all paths, short ones first."""
    near: dict[int, list[int]] = {}
    hop_of: dict[tuple[int, int], int] = {}
    for hop, (first, second) in enumerate(pairs):
        near.setdefault(first, []).append(second)
        near.setdefault(second, []).append(first)
        hop_of[first, second] = hop_of[second, first] = hop
    chains: list[tuple[int, ...]] = [(a, b) for a, b in pairs]
    paths = [*chains, *(ends[::-1] for ends in chains)]
    for _ in range(settings.chain_length - 2):
        longer = (
            (*path, new) for path in paths for new in near[path[-1]] if new not in path
        )
        paths = list(islice(longer, 2 * settings.max_chains + 1))
        chains += [path for path in paths if path[0] < path[-1]]
        if len(chains) - len(pairs) > settings.max_chains:
            raise InputTooLargeError(
                f"There are more than {settings.max_chains:,} chains.",
                hint="Lower `linkage.chain_length`, or raise `linkage.max_chains`.",
            )
    hops = [tuple(hop_of[pair] for pair in pairwise(path)) for path in chains]
    return _pad(chains, settings.chain_length), _pad(hops, settings.chain_length - 1)


def _pad(rows: Sequence[tuple[int, ...]], width: int) -> Table:
    padded = [(*row, *[-1] * (width - len(row))) for row in rows]
    return np.array(padded, np.int64).reshape(len(rows), width)
