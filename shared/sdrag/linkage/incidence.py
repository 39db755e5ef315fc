"""
A corpus as columns: which entity is in which document, and how relevant it is.

One row a pair of document and entity, sorted by document, then entity. Rows of equal
document lie together, so `starts` finds them; a second ordering finds the rows of an
entity. A million mentions take some forty megabytes. Entities are numbered in the
order of their ids, so comparing numbers is comparing ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdrag.errors import UsageError

__all__ = ["Floats", "Incidence", "Ints", "Mask", "neglog", "uniqueness"]

Ints = np.ndarray[tuple[int], np.dtype[np.int64]]
Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]

_CERTAIN = 50.0
"""Stands for -log(0): `1 - exp(-50)` is 1 in double precision."""


def neglog(risk: Floats) -> Floats:
    """Return `-log(1 - risk)`, the space in which risks add up; certainty is 50."""
    with np.errstate(divide="ignore"):
        return np.minimum(-np.log1p(-risk), _CERTAIN)


def uniqueness(frequency: Ints | int, documents: int) -> Floats:
    """
    Return how rare entities are: `log((N + 1) / freq) / log(N + 1)` (section 4.2.3).

    Args:
        frequency: In how many distinct documents each entity is.
        documents: How many documents there are, N.
    """
    scale = documents + 1
    rarity = np.log(scale / np.maximum(frequency, 1))
    return np.asarray(rarity / np.log(max(scale, 2)))


@dataclass(frozen=True, eq=False, repr=False)
class Incidence:
    """
    Documents, entities, and which entity is in which document.

    Args:
        document_ids: One for each document.
        entity_ids: One for each entity, ascending.
        starts: (documents + 1,) where each document's rows start.
        entity: (rows,) the entity's number.
        relevance: (rows,) from 0 to 1.
        weight: (entities,) the weight of the entity's type.
        maskable: (entities,) whether a plan may mask it.
    """

    document_ids: Sequence[str]
    entity_ids: Sequence[str]
    starts: Ints
    entity: Ints
    relevance: Floats
    weight: Floats
    maskable: Mask

    @classmethod
    def build(
        cls,
        documents: Sequence[str],
        rows: Iterable[tuple[int, str, float]],
        weights: Mapping[str, float],
        unmaskable: frozenset[str] = frozenset(),
    ) -> Incidence:
        """
        Build the columns; a pair given twice keeps its higher relevance.

        Args:
            documents: Their ids.
            rows: Number of the document, id of the entity, relevance.
            weights: The weight of each entity, by id.
            unmaskable: Ids of entities that no plan may mask.

        Raises:
            UsageError: A relevance is not from 0 to 1.
        """
        ids = sorted(weights)
        number = {name: index for index, name in enumerate(ids)}
        table = [(row, number[name], value) for row, name, value in rows]
        document = np.fromiter((row for row, _, _ in table), np.int64, len(table))
        entity = np.fromiter((name for _, name, _ in table), np.int64, len(table))
        relevance = np.fromiter((value for _, _, value in table), float, len(table))
        return cls.from_columns(
            documents,
            ids,
            document,
            entity,
            relevance,
            np.fromiter((weights[name] for name in ids), float, len(ids)),
            np.fromiter((name not in unmaskable for name in ids), bool, len(ids)),
        )

    @classmethod
    def from_columns(  # noqa: PLR0917 -- columns, one argument each
        cls,
        documents: Sequence[str],
        entities: Sequence[str],
        document: Ints,
        entity: Ints,
        relevance: Floats,
        weight: Floats,
        maskable: Mask | None = None,
    ) -> Incidence:
        """
        Build from columns in any order.

        Args:
            documents: Ids.
            entities: Ids, ascending.
            document: (rows,) the document's number.
            entity: (rows,) the entity's number.
            relevance: (rows,) from 0 to 1.
            weight: (entities,) the weight of the entity's type.
            maskable: (entities,) whether a plan may mask it; all, if not given.

        Raises:
            UsageError: A relevance is not from 0 to 1.
        """
        if len(relevance) and not (relevance.min() >= 0 and relevance.max() <= 1):
            raise UsageError(
                f"Relevances must be from 0 to 1, got {relevance.min()} to"
                f" {relevance.max()}."
            )
        order = np.lexsort((-relevance, entity, document))
        document, entity, relevance = document[order], entity[order], relevance[order]
        first = np.ones(len(order), bool)
        first[1:] = (np.diff(document) != 0) | (np.diff(entity) != 0)
        document, entity, relevance = document[first], entity[first], relevance[first]
        return cls(
            documents,
            entities,
            np.searchsorted(document, np.arange(len(documents) + 1)),
            entity,
            relevance,
            weight,
            np.ones(len(entities), bool) if maskable is None else maskable,
        )

    @cached_property
    def document(self) -> Ints:
        """The document of each row."""
        return np.repeat(np.arange(len(self.document_ids)), np.diff(self.starts))

    @cached_property
    def frequency(self) -> Ints:
        """In how many documents each entity is."""
        return np.bincount(self.entity, minlength=len(self.entity_ids))

    @cached_property
    def uniqueness(self) -> Floats:
        """`u(e)` of each entity."""
        return uniqueness(self.frequency, len(self.document_ids))

    @cached_property
    def contribution(self) -> Floats:
        """`c(e, d)` of each row."""
        scale = self.uniqueness * self.weight
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

    @cached_property
    def by_entity(self) -> tuple[Ints, Ints]:
        """Where each entity's rows start in the second array, which numbers rows."""
        order = np.argsort(self.entity, kind="stable")
        counts = np.concatenate(([0], np.cumsum(self.frequency)))
        return counts, order

    def rows_of(self, entity: int) -> Ints:
        """Return the rows of an entity, by ascending document."""
        starts, order = self.by_entity
        return order[starts[entity] : starts[entity + 1]]

    def document_risk(self, masked: Mask | None = None) -> Floats:
        """Return `R(d)` of each document over the entities that are not masked."""
        logs = self.log_contribution
        if masked is not None:
            logs = np.where(masked[self.entity], 0.0, logs)
        sums = np.bincount(self.document, logs, len(self.document_ids))
        return np.asarray(-np.expm1(-sums))
