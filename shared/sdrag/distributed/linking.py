"""
Links between documents, found by workers.

The entities that documents share are dealt out by their rank. A worker finds the pairs
whose first shared entity it was dealt, with the prefix filter of
`sdrag.linkage.linked_pairs`. So every pair is found once. A worker sees numbers alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from sdrag.distributed.session import RayOptions, is_running
from sdrag.distributed.workers import Work, placed
from sdrag.linkage.edges import Edges, Links, blocks_of, joined
from sdrag.linkage.incidence import Incidence
from sdrag.linkage.linked_pairs import Shared, ranked

__all__ = ["RayLinks", "links_in_part"]

_PARTS = 16


class RayLinks(Links):
    """
    All edges at or above a threshold, found on Ray while it runs, and here after that.

    Args:
        corpus: The documents and their entities.
        threshold: The least strength, from 0 to 1.
        options: How Ray is used.
    """

    def __init__(
        self, corpus: Incidence, threshold: float, options: RayOptions
    ) -> None:
        super().__init__(corpus, threshold)
        self._options = options

    def blocks(self) -> Iterator[Edges]:
        """Yield the edges in blocks of no order, each edge in one of them."""
        if not is_running():
            yield from super().blocks()
            return
        shared = ranked(self.corpus)
        common = ([getattr(shared, one.name) for one in fields(shared)], self.threshold)
        parts = self._options.blocks or _PARTS
        parcels = [(part, parts) for part in range(parts)]
        for columns in placed(_linking, common, parcels, parts, self._options):
            found = Edges(*columns)
            if len(found):
                yield found


def links_in_part(
    shared: Shared, threshold: float, part: tuple[int, int]
) -> tuple[Any, ...]:
    """Return the columns of the edges of one part."""
    edges = joined(list(blocks_of(shared, threshold, part)))
    return tuple(getattr(edges, one.name) for one in fields(edges))


def _linking(columns: list[Any], threshold: float) -> Work:
    shared = Shared(*columns)
    return lambda part: links_in_part(shared, threshold, part)
