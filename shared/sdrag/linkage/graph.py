"""
The document graph: its edges, pruning, and chains of linked documents (CLAM, 4.2.3).

`strength = 1 - prod(1 - s_e)` over shared entities reaches a threshold t when the sum
of `-log(1 - s_e)` reaches `-log(1 - t)`. What an entity can add to any pair is bounded
by its value where it is most relevant, `top`. Entities are ordered by descending `top`,
so a pair is found by the first entity that it shares, where that can suffice alone,
else by the first two. A document takes part while what follows in it can still reach
the threshold: the prefix filter of exact all-pairs similarity search. Each pair that is
found is checked with its exact strength.

A chain is a simple path in the graph as it is after document-level masking; with
`chain_shape: subgraph` it is any connected group of documents, with all links among
them. Its risk at that moment, its category and the ceiling that follows are fixed here,
for every strategy alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import prod

import numpy as np

from sdrag.errors import InputTooLargeError
from sdrag.linkage.incidence import Floats, Incidence, Ints, Mask, neglog
from sdrag.policy import LinkageSection

__all__ = [
    "LEVELS",
    "Chains",
    "Edges",
    "documents_of",
    "enumerate_chains",
    "find_edges",
    "hop_risks",
    "path_risks",
]

LEVELS = ("LOW", "MEDIUM", "HIGH")
"""Names of the categories, by their number."""

MOST_EDGES = 20_000_000
"""More links than this are refused: their columns would take gigabytes."""

_SLACK = 1e-9
"""Bounds are loosened by this much, so rounding never loses a pair."""
_TOLERANCE = 1e-12
_BLOCK = 250_000
"""Pairs and prefixes that are looked at together; bounds the memory."""
_ROUND = 12

Table = np.ndarray[tuple[int, int], np.dtype[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class Edges:
    """
    The edges of a document graph as columns, by ascending documents.

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

    def without(self, masked: Mask, threshold: float) -> Edges:
        """Return the graph after masking, pruned again."""
        keep = ~masked[self.via_entity]
        edge, value = self.via_edge[keep], self.via_log[keep]
        log: Floats = np.bincount(edge, value, len(self)).astype(float)
        alive = np.bincount(edge, minlength=len(self)) > 0
        alive &= -np.expm1(-log) >= threshold - _TOLERANCE
        left = Edges(self.first, self.second, log, edge, self.via_entity[keep], value)
        return left.only(alive)

    def only(self, chosen: Mask) -> Edges:
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

    def ends(self, hops: Sequence[int]) -> list[tuple[int, int]]:
        """Return the two documents of each hop of a chain; -1 is no hop."""
        edges = [edge for edge in hops if edge >= 0]
        return [(int(self.first[edge]), int(self.second[edge])) for edge in edges]


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
    """

    hops: Table
    risk_before: Floats
    level: Ints
    ceiling: Floats
    left_out: Mapping[int, int]

    def __len__(self) -> int:
        return len(self.hops)


def find_edges(corpus: Incidence, threshold: float) -> Edges:
    """
    Find all edges at or above a threshold.

    Args:
        corpus: The documents and their entities.
        threshold: The least strength, from 0 to 1.

    Raises:
        InputTooLargeError: There are more than fit into memory.
    """
    rows = _Rows.of(corpus)
    parts: list[Edges] = []
    count = 0
    for last, prefix, depth in _prefixes(rows, float(neglog(np.array([threshold]))[0])):
        for left, right in _pairs(last, prefix):
            part = _checked(rows, left, right, depth, threshold)
            parts.append(part)
            count += len(part)
            if count > MOST_EDGES:
                raise InputTooLargeError(
                    f"More than {MOST_EDGES:,} links pass the edge threshold.",
                    hint="Raise `linkage.edge_threshold`.",
                )
    return _joined(parts)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """
    Rows of entities that are in two documents or more, by document, then rank.

    Entities are ranked by descending `top`, the most that they can add to a pair.
    `rest` is the sum of `top` from a row to the end of its document; `key` ascends.
    """

    starts: Ints
    document: Ints
    rank: Ints
    value: Floats
    top: Floats
    rest: Floats
    key: Ints
    entity_of_rank: Ints

    @classmethod
    def of(cls, corpus: Incidence) -> _Rows:
        best = neglog(corpus.global_contribution)
        order = np.lexsort((corpus.frequency, -best))
        rank_of = np.empty(len(order), np.int64)
        rank_of[order] = np.arange(len(order))
        kept = corpus.frequency[corpus.entity] > 1
        key = corpus.document[kept] * len(order) + rank_of[corpus.entity[kept]]
        by_key = np.argsort(key)
        key = key[by_key]
        document, rank = np.divmod(key, max(len(order), 1))
        starts = np.searchsorted(document, np.arange(len(corpus.document_ids) + 1))
        top = best[order][rank]
        sums = np.concatenate((np.cumsum(top[::-1])[::-1], [0.0]))
        rest = sums[:-1] - sums[starts[document + 1]]
        value = corpus.contribution[kept][by_key]
        return cls(starts, document, rank, value, top, rest, key, order)


def _prefixes(rows: _Rows, need: float) -> Iterator[tuple[Ints, Ints, int]]:
    """
    Yield prefixes of documents: their last rows, their numbers, and their length.

    Every pair of documents that reaches `need` shares one that is yielded.
    """
    can = np.flatnonzero(rows.rest + _SLACK >= need)
    can = can[np.argsort(rows.rank[can], kind="stable")]
    suffices = rows.top[can] + _SLACK >= need
    yield can[suffices], rows.rank[can[suffices]], 1
    can = can[~suffices]
    if not len(can):
        return
    later = rows.starts[rows.document[can] + 1] - can - 1
    ends = np.flatnonzero(np.diff(rows.rank[can], append=-1)) + 1
    block = np.cumsum(later)[ends - 1] // _BLOCK
    for part in np.split(can, ends[:-1][np.diff(block) > 0]):
        count = rows.starts[rows.document[part] + 1] - part - 1
        owner, offset = _ranges(count)
        first, last = part[owner], part[owner] + 1 + offset
        alive = rows.top[first] + rows.rest[last] + _SLACK >= need
        first, last = first[alive], last[alive]
        number = rows.rank[first] * len(rows.entity_of_rank) + rows.rank[last]
        order = np.argsort(number, kind="stable")
        yield last[order], number[order], 2


def _ranges(count: Ints) -> tuple[Ints, Ints]:
    """Return for each of `count` items of each owner the owner, and 0, 1, 2 ..."""
    owner = np.repeat(np.arange(len(count)), count)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)


def _pairs(last: Ints, prefix: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield all pairs of rows of an equal prefix, in blocks; prefixes ascend."""
    ends = np.searchsorted(prefix, prefix, "right")
    after = ends - np.arange(len(last)) - 1
    total = np.concatenate(([0], np.cumsum(after)))
    low = 0
    while low < len(last):
        high = int(np.searchsorted(total, total[low] + _BLOCK, "right")) - 1
        high = max(high, low + 1)
        owner, offset = _ranges(after[low:high])
        left = low + owner
        if len(left):
            yield last[left], last[left + 1 + offset]
        low = high


def _checked(
    rows: _Rows, left: Ints, right: Ints, depth: int, threshold: float
) -> Edges:
    """Keep pairs that pass, and whose first shared entities are this prefix."""
    first, second, last = rows.document[left], rows.document[right], rows.rank[left]
    pair, offset = _ranges(rows.starts[first + 1] - rows.starts[first])
    row = rows.starts[first][pair] + offset
    wanted = second[pair] * len(rows.entity_of_rank) + rows.rank[row]
    other = np.minimum(np.searchsorted(rows.key, wanted), len(rows.key) - 1)
    shared = rows.key[other] == wanted
    pair, row, other = pair[shared], row[shared], other[shared]
    rank, count = rows.rank[row], len(first)
    log = neglog(np.maximum(rows.value[row], rows.value[other]))
    total: Floats = np.bincount(pair, log, count).astype(float)
    before = np.bincount(pair[rank <= last[pair]], minlength=count)
    passing = (before == depth) & (-np.expm1(-total) >= threshold - _TOLERANCE)
    return Edges(first, second, total, pair, rows.entity_of_rank[rank], log).only(
        passing
    )


def _joined(parts: Sequence[Edges]) -> Edges:
    """Put blocks together."""
    if not parts:
        none, zero = np.zeros(0, np.int64), np.zeros(0)
        return Edges(none, none, zero, none, none, zero)
    first = np.concatenate([part.first for part in parts])
    second = np.concatenate([part.second for part in parts])
    order = np.lexsort((second, first))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    shift = np.cumsum([0, *map(len, parts)]).tolist()
    shifted = [part.via_edge + at for part, at in zip(parts, shift, strict=False)]
    edge = number[np.concatenate(shifted)]
    by_edge = np.argsort(edge, kind="stable")
    return Edges(
        first[order],
        second[order],
        np.concatenate([part.log for part in parts])[order],
        edge[by_edge],
        np.concatenate([part.via_entity for part in parts])[by_edge],
        np.concatenate([part.via_log for part in parts])[by_edge],
    )


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
    """Return the risk of each chain, given the risk of every edge."""
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
    hops: Table = np.arange(len(edges))[:, None]
    left_out: dict[int, int] = {}
    if settings.chain_length > 2:
        hops, left_out = _longer(edges, risk, settings)
    before = path_risks(hops, risk)
    high = before >= settings.risk_thresholds.high
    medium = before >= settings.risk_thresholds.medium
    level = high.astype(np.int64) + (medium | high)
    factors = settings.chain_risk_factor
    relative = np.where(high, factors.high, factors.medium) * before
    absolute = np.full(len(before), settings.max_chain_risk)
    ceiling = np.where(level > 0, np.minimum(absolute, relative), absolute)
    return Chains(hops, before, level, ceiling, left_out)


def _longer(
    edges: Edges, risk: Floats, settings: LinkageSection
) -> tuple[Table, dict[int, int]]:
    """Return all chains as hops, short ones first, and how many were left out."""
    graph = _Graph(edges, risk.tolist(), grouped=settings.chain_shape == "subgraph")
    chains: dict[_Documents, _Hops] = {}
    for hop, pair in enumerate(graph.pairs):
        chains[graph.key(pair)] = (hop,)
    rows = list(chains.values())
    left_out: dict[int, int] = {}
    for length in range(3, settings.chain_length + 1):
        room = max(settings.max_chains - len(rows), 0)
        missed = left_out.get(length - 1, 0) * length * graph.degree
        chains, skipped = graph.lengthened(chains, room)
        rows += chains.values()
        if missed + skipped:
            left_out[length] = missed + skipped
    width = max(map(len, rows), default=1)
    padded = [row + (-1,) * (width - len(row)) for row in rows]
    return np.array(padded, np.int64).reshape(len(rows), width), left_out


_Documents = tuple[int, ...]
_Hops = tuple[int, ...]


class _Graph:
    """Lengthens chains by one document; a chain is known by its documents."""

    def __init__(self, edges: Edges, risk: Sequence[float], *, grouped: bool) -> None:
        self.pairs = list(zip(edges.first.tolist(), edges.second.tolist(), strict=True))
        self._grouped, self._risk = grouped, risk
        self._edge = {pair: number for number, pair in enumerate(self.pairs)}
        self._next: dict[int, list[int]] = {}
        for first, second in self.pairs:
            self._next.setdefault(first, []).append(second)
            self._next.setdefault(second, []).append(first)

    @property
    def degree(self) -> int:
        """The most links that a document has."""
        return max(map(len, self._next.values()), default=0)

    def key(self, documents: _Documents) -> _Documents:
        """Return the documents of a group ascending, those of a path either way."""
        if self._grouped:
            return tuple(sorted(documents))
        return documents if documents[0] < documents[-1] else documents[::-1]

    def lengthened(
        self, chains: Mapping[_Documents, _Hops], room: int
    ) -> tuple[dict[_Documents, _Hops], int]:
        """Lengthen the riskiest first; return how many are left out at most, too."""
        order = sorted(chains, key=lambda documents: self._rank(chains[documents]))
        longer: dict[_Documents, _Hops] = {}
        skipped = 0
        for chain in order:
            if len(longer) >= room:
                skipped += sum(len(self._next[document]) for document in chain)
                continue
            for new in self._extended(chain):
                longer.setdefault(new, self._hops(new))
        excess = list(longer)[room:]
        for chain in excess:
            del longer[chain]
        return longer, skipped + len(excess)

    def _extended(self, chain: _Documents) -> Iterator[_Documents]:
        for place in range(len(chain)) if self._grouped else (0, -1):
            for new in self._next[chain[place]]:
                if new not in chain:
                    yield self.key((new, *chain) if place == 0 else (*chain, new))

    def _hops(self, chain: _Documents) -> _Hops:
        pairs = combinations(chain, 2) if self._grouped else pairwise(chain)
        hops = (self._edge.get((min(pair), max(pair))) for pair in pairs)
        return tuple(hop for hop in hops if hop is not None)

    def _rank(self, hops: _Hops) -> tuple[float, _Hops]:
        return round(prod(1.0 - self._risk[hop] for hop in hops), _ROUND), hops


def documents_of(hops: Sequence[tuple[int, int]]) -> list[int]:
    """Return the documents of a path in order, given its hops; else ascending."""
    whole = sorted({document for pair in hops for document in pair})
    if len(hops) == 1:
        return list(hops[0])
    first, second = hops[0], hops[1]
    path = [first[0] if first[1] in second else first[1]]
    for left, right in hops:
        if path[-1] not in {left, right}:
            return whole
        path.append(right if left == path[-1] else left)
    return path if sorted(path) == whole else whole
