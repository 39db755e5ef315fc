"""What pairs of documents share, many pairs at once."""

from __future__ import annotations

import numpy as np

from sdrag.linkage.incidence import Floats, Ints
from sdrag.linkage.linked_pairs import Pairs, Shared

__all__ = ["intersect"]

_BROAD = 32
"""Documents with more shared entities are intersected by search, not by table."""


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
    pair, one, two = (np.concatenate(part) for part in zip(*found, strict=True))
    return pair, one, two


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
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    hit = keys[place] == wanted
    return chosen[which[hit]], row[hit], place[hit]
