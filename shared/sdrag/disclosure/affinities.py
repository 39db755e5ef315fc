"""
How close each constraint is to each document, beside the bindings.

A sentence about a snap hook says little; the log it stands in says that a constraint on
a lifeline means this document and no other. So for each constraint and document the
best few chunks are kept with their closeness. Kept per chunk, so that documents may be
bound in batches, and a chunk that was edited replaces itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from sdrag.vocabulary import Constraint, Passage

__all__ = ["AFFINITY_SCHEMA", "Affinities", "DocumentAffinities", "forget_chunks"]

AFFINITY_SCHEMA = """
CREATE TABLE IF NOT EXISTS affinity (
    rule BLOB NOT NULL, document TEXT NOT NULL, passage TEXT NOT NULL,
    score REAL NOT NULL, PRIMARY KEY (rule, document, passage)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS affinity_by_passage ON affinity (passage);
"""
_BEST = 5


class Affinities(Protocol):
    """Where closeness to documents lives."""

    def note(
        self,
        passages: Sequence[Passage],
        constraints: Sequence[Constraint],
        scores: Sequence[Sequence[float]],
    ) -> None:
        """Keep the scores of a batch, shape (constraints, passages)."""
        ...

    def read(
        self, constraints: Sequence[Constraint]
    ) -> Mapping[str, Mapping[str, float]]:
        """Return each document's closeness to each constraint, by their ids."""
        ...


class DocumentAffinities:
    """
    Closeness in the database of a binding store.

    Args:
        connection: Opens the database for one transaction.
        rule: The store's key of a constraint.
    """

    def __init__(
        self,
        connection: Callable[[], AbstractContextManager[sqlite3.Connection]],
        rule: Callable[[Constraint], bytes],
    ) -> None:
        self._connection = connection
        self._rule = rule

    def note(
        self,
        passages: Sequence[Passage],
        constraints: Sequence[Constraint],
        scores: Sequence[Sequence[float]],
    ) -> None:
        """Keep the scores of a batch; see `Affinities.note`."""
        rows = [
            (self._rule(constraint), passage.document_id, passage.id, score)
            for constraint, row in zip(constraints, scores, strict=True)
            for passage, score in zip(passages, row, strict=True)
            if passage.document_id is not None
        ]
        documents = {row[1] for row in rows}
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT OR REPLACE INTO affinity VALUES (?, ?, ?, ?)", rows
            )
            connection.executemany(
                "DELETE FROM affinity WHERE document = ?1 AND (rule, passage) NOT IN"
                " (SELECT rule, passage FROM (SELECT rule, passage, row_number() OVER"
                "   (PARTITION BY rule ORDER BY score DESC, passage) AS place"
                "   FROM affinity WHERE document = ?1) WHERE place <= ?2)",
                [(document, _BEST) for document in documents],
            )

    def read(
        self, constraints: Sequence[Constraint]
    ) -> Mapping[str, Mapping[str, float]]:
        """Return each document's closeness; see `Affinities.read`."""
        names = {self._rule(rule): rule.id for rule in constraints}
        found: dict[str, dict[str, float]] = {}
        with self._connection() as connection:
            for rule, document, score in connection.execute(
                "SELECT rule, document, avg(score) FROM affinity"
                " GROUP BY rule, document"
            ):
                if rule in names:
                    found.setdefault(document, {})[names[rule]] = score
        return found


def forget_chunks(connection: sqlite3.Connection, passage_ids: Sequence[str]) -> None:
    """Forget chunks that left the index or read differently today."""
    connection.executemany(
        "DELETE FROM affinity WHERE passage = ?", [(one,) for one in passage_ids]
    )
