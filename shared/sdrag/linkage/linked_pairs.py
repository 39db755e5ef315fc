"""
Every pair of documents whose edge passes the threshold, exactly, near linear time.

Theory. `strength = 1 - prod(1 - s_e)` over shared entities passes a threshold t when
the sum of `-log(1 - s_e)` reaches `L = -log(1 - t)`. What an entity can add to any
pair is bounded by its value where it is most relevant, `top_e`. Order all entities by
descending `top`. If a pair passes, then the first few of its shared entities, up to
the one where the sum of `top` reaches L, are a *sufficient* set that both documents
hold, and it is the smallest prefix that is. So pairs are found by joining documents
on prefixes, one entity at a time:

1. A row (document, first entity) is kept while what follows in the document can still
   reach L: the prefix filter of exact all-pairs similarity search.
2. Rows with equal prefix form a group. A group whose prefix is sufficient is joined:
   one entity that suffices alone makes a hub, and its pairs are links or nearly so. A
   small group is joined too, being cheaper to check than to split.
3. A large group of an entity of middling frequency is split by the next entity, and
   rows that can no longer reach L are dropped. This is what keeps lists of such
   entities from becoming quadratic.

Each joined pair is checked with its exact strength. It is counted in the one group
whose prefix is the pair's own first shared entities, so no pair comes twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sdrag.linkage.incidence import Floats, Incidence, Ints, neglog

__all__ = ["SLACK", "Pairs", "Shared", "candidates", "intersect", "ranked"]

SLACK = 1e-9
"""Bounds are loosened by this much, so rounding never loses a pair."""
_SMALL = 24
"""Groups up to this size are joined without being split further."""
_BLOCK = 400_000
"""Pairs that are given at once; bounds the memory."""
_BROAD = 32
"""Documents with more shared entities are intersected by search, not by table."""


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """
    Rows of entities that are in two documents or more, ranked.

    Within a document rows go by ascending rank, so by descending `top`; `rest` is the
    sum of `top` from a row to the end of its document.
    """

    starts: Ints
    rank: Ints
    value: Floats
    top: Floats
    rest: Floats
    document: Ints
    entity_of_rank: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Documents under a prefix: the last row taken, the group, depth and sum so far."""

    row: Ints
    group: Ints
    sum: Floats
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs to check, brought by a prefix of `depth` entities up to `last`."""

    first: Ints
    second: Ints
    last: Ints
    depth: int


def ranked(corpus: Incidence) -> Shared:
    """Rank the entities that are in several documents, by what they can add."""
    top = neglog(corpus.global_contribution)
    order = np.lexsort((corpus.frequency, -top))
    rank_of = np.empty(len(order), np.int64)
    rank_of[order] = np.arange(len(order))
    kept = corpus.frequency[corpus.entity] > 1
    document, rank = corpus.document[kept], rank_of[corpus.entity[kept]]
    by_rank = np.lexsort((rank, document))
    document, rank = document[by_rank], rank[by_rank]
    value = corpus.contribution[kept][by_rank]
    starts = np.searchsorted(document, np.arange(len(corpus.document_ids) + 1))
    top = top[order]
    sums = np.concatenate((np.cumsum(top[rank][::-1])[::-1], [0.0]))
    rest = sums[:-1] - sums[starts[document + 1]]
    return Shared(starts, rank, value, top, rest, document, order)


def candidates(
    shared: Shared, need: float, part: tuple[int, int] = (0, 1)
) -> Iterator[Pairs]:
    """
    Yield pairs among which every passing one occurs exactly once as its own.

    Args:
        shared: The rows.
        need: What the sum of a pair has to reach.
        part: Which part of how many: pairs whose first entity is of that part. All
            parts together give every pair.
    """
    start = np.flatnonzero(shared.rest + SLACK >= need)
    start = start[shared.rank[start] % part[1] == part[0]]
    order = np.argsort(shared.rank[start], kind="stable")
    row = start[order]
    stack = [_Rows(row, shared.rank[row], shared.top[shared.rank[row]], 1)]
    while stack:
        rows = stack.pop()
        sizes, where = _group_sizes(rows.group)
        size = sizes[where]
        joinable = (size > 1) & ((rows.sum >= need) | (size <= _SMALL))
        yield from _pairs(shared, rows, joinable)
        split = _split(rows, np.flatnonzero((size > 1) & ~joinable))
        stack.extend(_extended(shared, part, need) for part in split)


def _group_sizes(group: Ints) -> tuple[Ints, Ints]:
    """Return each run's length in a sorted column, and each row's run."""
    first = np.ones(len(group), bool)
    first[1:] = group[1:] != group[:-1]
    where = np.cumsum(first) - 1
    return np.bincount(where) if len(group) else np.zeros(0, np.int64), where


def _pairs(
    shared: Shared, rows: _Rows, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> Iterator[Pairs]:
    """Yield all pairs within each chosen group, in blocks."""
    row, group = rows.row[chosen], rows.group[chosen]
    sizes, where = _group_sizes(group)
    ends = np.cumsum(sizes)
    after = ends[where] - np.arange(len(row)) - 1 if len(row) else row
    total = np.concatenate(([0], np.cumsum(after)))
    low = 0
    while low < len(row):
        high = int(np.searchsorted(total, total[low] + _BLOCK, "right")) - 1
        high = max(high, low + 1)
        left = np.repeat(np.arange(low, high), after[low:high])
        offset = np.arange(len(left)) - np.repeat(
            total[low:high] - total[low], after[low:high]
        )
        right = left + 1 + offset
        if len(left):
            yield Pairs(
                shared.document[row[left]],
                shared.document[row[right]],
                shared.rank[row[left]],
                rows.depth,
            )
        low = high


def _split(rows: _Rows, chosen: Ints) -> Iterator[_Rows]:
    """Cut the chosen rows into parts of whole groups, to bound memory."""
    if not len(chosen):
        return
    group = rows.group[chosen]
    _, where = _group_sizes(group)
    starts = np.searchsorted(where, np.arange(where[-1] + 2))
    low = 0
    while low < len(starts) - 1:
        limit = starts[low] + _BLOCK
        high = max(int(np.searchsorted(starts, limit, "right")) - 1, low + 1)
        part = chosen[starts[low] : starts[high]]
        yield _Rows(rows.row[part], rows.group[part], rows.sum[part], rows.depth)
        low = high


def _extended(shared: Shared, rows: _Rows, need: float) -> _Rows:
    """Lengthen each prefix by each later entity that leaves it able to reach `need`."""
    ends = shared.starts[shared.document[rows.row] + 1]
    count = ends - rows.row - 1
    parent = np.repeat(np.arange(len(rows.row)), count)
    offset = np.arange(len(parent)) - np.repeat(np.cumsum(count) - count, count)
    row = rows.row[parent] + 1 + offset
    alive = rows.sum[parent] + shared.rest[row] + SLACK >= need
    parent, row = parent[alive], row[alive]
    rank = shared.rank[row]
    _, where = _group_sizes(rows.group)
    key = where[parent] * len(shared.top) + rank
    order = np.argsort(key, kind="stable")
    total = rows.sum[parent] + shared.top[rank]
    return _Rows(row[order], key[order], total[order], rows.depth + 1)


def intersect(shared: Shared, pairs: Pairs) -> tuple[Ints, Ints, Floats]:
    """Return what each pair shares: pair, rank and `s_e`, by pair."""
    lengths = np.diff(shared.starts)
    broad = np.maximum(lengths[pairs.first], lengths[pairs.second])
    small = np.flatnonzero(broad <= _BROAD)
    large = np.flatnonzero(broad > _BROAD)
    parts = [
        _by_table(shared, pairs, small, int(broad[small].max(initial=0))),
        _by_search(shared, pairs, large),
    ]
    pair, left, right = (
        np.concatenate(columns) for columns in zip(*parts, strict=True)
    )
    order = np.argsort(pair, kind="stable")
    pair, left, right = pair[order], left[order], right[order]
    value = np.maximum(shared.value[left], shared.value[right])
    return pair, shared.rank[left], value


def _by_table(
    shared: Shared, pairs: Pairs, chosen: Ints, width: int
) -> tuple[Ints, Ints, Ints]:
    """Intersect narrow documents: compare every entity with every entity."""
    columns = np.arange(width)
    first, second = (
        shared.starts[documents[chosen]][:, None] + columns
        for documents in (pairs.first, pairs.second)
    )
    ranks = np.append(shared.rank, -1).astype(np.int32)
    limit = len(shared.rank)
    ends = (
        shared.starts[pairs.first[chosen] + 1],
        shared.starts[pairs.second[chosen] + 1],
    )
    left = np.where(
        first < ends[0][:, None], ranks[np.minimum(first, limit)], np.int32(-1)
    )
    right = np.where(
        second < ends[1][:, None], ranks[np.minimum(second, limit)], np.int32(-2)
    )
    found: list[tuple[Ints, Ints, Ints]] = []
    for column in range(width):
        row, other = np.nonzero(left[:, column, None] == right)
        found.append((chosen[row], first[row, column], second[row, other]))
    if not found:
        empty = np.zeros(0, np.int64)
        return empty, empty, empty
    pair, left_rows, right_rows = (
        np.concatenate(part) for part in zip(*found, strict=True)
    )
    return pair, left_rows, right_rows


def _by_search(shared: Shared, pairs: Pairs, chosen: Ints) -> tuple[Ints, Ints, Ints]:
    """Intersect broad documents: look each row of one up in the other."""
    if not len(chosen):
        return chosen, chosen, chosen
    first, second = pairs.first[chosen], pairs.second[chosen]
    count = shared.starts[first + 1] - shared.starts[first]
    which = np.repeat(np.arange(len(chosen)), count)
    offset = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    row = shared.starts[first][which] + offset
    keys = shared.document * len(shared.top) + shared.rank
    wanted = second[which] * len(shared.top) + shared.rank[row]
    found_at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    hit = keys[found_at] == wanted
    return chosen[which[hit]], row[hit], found_at[hit]
