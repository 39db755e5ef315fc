"""
How close each constraint is to each document, beside the bindings.

A sentence about a snap hook says little; the log it stands in says that a constraint on
a lifeline means this document and no other. So a document is as close to a constraint
as the best few of its chunks. Kept per chunk, one row for all constraints, so that
documents may be bound in batches, and a chunk that was edited replaces itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from sdrag.state.keys import Keys
from sdrag.vocabulary import Constraint, Passage

__all__ = ["Affinities", "DocumentAffinities", "forget_chunks"]

_BEST = 5
_RULE_BYTES = 16


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
    Closeness in the database of a state.

    Args:
        transaction: Opens the database.
        keys: The state's.
    """

    def __init__(
        self,
        transaction: Callable[[], AbstractContextManager[sqlite3.Connection]],
        keys: Keys,
    ) -> None:
        self._transaction = transaction
        self._keys = keys

    def note(
        self,
        passages: Sequence[Passage],
        constraints: Sequence[Constraint],
        scores: Sequence[Sequence[float]],
    ) -> None:
        """Keep the scores of a batch; see `Affinities.note`."""
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

        rules = [self._rule(constraint) for constraint in constraints]
        ruleset = self._keys.ruleset(rules)
        columns = np.asarray(scores, dtype="<f2").T
        rows = [
            (passage.id, passage.document_id, ruleset, column.tobytes())
            for passage, column in zip(passages, columns, strict=True)
            if passage.document_id is not None
        ]
        with self._transaction() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "INSERT OR IGNORE INTO ruleset VALUES (?, ?)",
                (ruleset, b"".join(rules)),
            )
            connection.executemany(
                "INSERT OR REPLACE INTO affinity VALUES (?, ?, ?, ?)", rows
            )

    def read(
        self, constraints: Sequence[Constraint]
    ) -> Mapping[str, Mapping[str, float]]:
        """Return each document's closeness; see `Affinities.read`."""
        import numpy as np  # noqa: PLC0415 -- as above

        names = {self._rule(rule): rule.id for rule in constraints}
        documents: dict[str, dict[bytes, list[bytes]]] = {}
        with self._transaction() as connection:
            connection.execute("BEGIN")
            lists = dict(
                connection.execute(
                    "SELECT id, rules FROM ruleset WHERE id IN"
                    " (SELECT DISTINCT ruleset FROM affinity)"
                )
            )
            for document, ruleset, scores in connection.execute(
                "SELECT document, ruleset, scores FROM affinity"
            ):
                own = documents.setdefault(document, {})
                own.setdefault(ruleset, []).append(scores)
        found: dict[str, dict[str, float]] = {}
        for document, by_ruleset in documents.items():
            close = found.setdefault(document, {})
            for ruleset, rows in by_ruleset.items():
                joined = np.frombuffer(b"".join(rows), dtype="<f2")
                matrix = np.sort(joined.reshape(len(rows), -1).astype(np.float32), 0)
                best = matrix[-_BEST:].mean(axis=0)
                for place, score in enumerate(best.tolist()):
                    at = place * _RULE_BYTES
                    name = names.get(lists[ruleset][at : at + _RULE_BYTES])
                    if name is not None:
                        close[name] = max(score, close.get(name, score))
        return {document: close for document, close in found.items() if close}

    def _rule(self, constraint: Constraint) -> bytes:
        return self._keys.of("near", constraint.id, constraint.text)


def forget_chunks(connection: sqlite3.Connection, passage_ids: Sequence[str]) -> None:
    """Forget chunks that left the index or read differently today."""
    connection.executemany(
        "DELETE FROM affinity WHERE passage = ?", [(one,) for one in passage_ids]
    )
