"""
Which entity is in which document, and the risks of documents (CLAM, section 4.2.3).

A corpus is columns: one row for each pair of document and entity. Risks add up as
`-log(1 - risk)`. With `N` documents:

- uniqueness `u(e) = log((N + 1) / documents with e) / log(N + 1)`
- contribution `c(e, d) = relevance * u(e) * weight`, and `s_e` its maximum over `d`
- document risk `R(d) = 1 - prod(1 - c(e, d))`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_CERTAIN = 50.0
"""Stands for -log(0): `1 - exp(-50)` is 1 in double precision."""

Ints = np.ndarray[tuple[int], np.dtype[np.int64]]
Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
Table = np.ndarray[tuple[int, int], np.dtype[np.int64]]


def neglog(risk: Floats) -> Floats:
    """Return `-log(1 - risk)`, the space in which risks add up; certainty is 50."""
    with np.errstate(divide="ignore"):
        return np.minimum(-np.log1p(-risk), _CERTAIN)


def uniqueness(frequency: Ints | int, documents: int) -> Floats:
    """Return how rare entities are."""
    scale = documents + 1
    rarity = np.log(scale / np.maximum(frequency, 1))
    return np.asarray(rarity / np.log(max(scale, 2)))


@dataclass(frozen=True, eq=False, repr=False)
class Incidence:
    """
    Which entity is in which document, and how relevant it is.

    Args:
        document_ids: One for each document.
        entity_ids: One for each entity, ascending.
        document: (rows,) the document's number, ascending.
        entity: (rows,) the entity's number, ascending within a document.
        relevance: (rows,) from 0 to 1.
        weight: (entities,) the weight of the entity's type.
        maskable: (entities,) whether a plan may mask it.
    """

    document_ids: Sequence[str]
    entity_ids: Sequence[str]
    document: Ints
    entity: Ints
    relevance: Floats
    weight: Floats
    maskable: Mask

    @classmethod
    def of(
        cls,
        documents: Sequence[str],
        rows: Sequence[tuple[int, str, float]],
        weights: Mapping[str, float],
        unmaskable: frozenset[str] = frozenset(),
    ) -> Incidence:
        """
        Return the columns.

        `rows`: number of the document, id of the entity, relevance; a pair once.
        """
        ids = sorted(weights)
        number = {id_: at for at, id_ in enumerate(ids)}
        document = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        entity = np.fromiter((number[row[1]] for row in rows), np.int64, len(rows))
        relevance = np.fromiter((row[2] for row in rows), float, len(rows))
        order = np.lexsort((entity, document))
        return cls(
            documents,
            ids,
            document[order],
            entity[order],
            relevance[order],
            np.fromiter((weights[id_] for id_ in ids), float, len(ids)),
            np.fromiter((id_ not in unmaskable for id_ in ids), bool, len(ids)),
        )

    @cached_property
    def starts(self) -> Ints:
        """(documents + 1,) where each document's rows start."""
        return np.searchsorted(self.document, np.arange(len(self.document_ids) + 1))

    @cached_property
    def frequency(self) -> Ints:
        """In how many documents each entity is."""
        return np.bincount(self.entity, minlength=len(self.entity_ids))

    @cached_property
    def contribution(self) -> Floats:
        """`c(e, d)` of each row."""
        scale = uniqueness(self.frequency, len(self.document_ids)) * self.weight
        return np.asarray(self.relevance * scale[self.entity])

    @cached_property
    def log_contribution(self) -> Floats:
        """`-log(1 - c(e, d))` of each row."""
        return neglog(self.contribution)

    @cached_property
    def global_contribution(self) -> Floats:
        """`s_e` of each entity: its contribution where it is most relevant."""
        best = np.zeros(len(self.entity_ids))
        np.maximum.at(best, self.entity, self.contribution)
        return best

    def document_risk(self, masked: Mask | None = None) -> Floats:
        """Return `R(d)` of each document over the entities that are not masked."""
        logs = self.log_contribution
        if masked is not None:
            logs = np.where(masked[self.entity], 0.0, logs)
        sums = np.bincount(self.document, logs, len(self.document_ids))
        return np.asarray(-np.expm1(-sums))

    def logs_of(self, document: int) -> dict[int, float]:
        """Return `-log(1 - c)` of each entity of a document."""
        rows = slice(self.starts[document], self.starts[document + 1])
        logs = self.log_contribution[rows].tolist()
        return dict(zip(self.entity[rows].tolist(), logs, strict=True))
