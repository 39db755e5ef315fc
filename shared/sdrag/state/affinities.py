"""
How close each constraint is to each chunk and document, beside the bindings.

A sentence about a snap hook says little; the log it stands in says that a constraint on
a lifeline means this document and no other. So a document is as close to a constraint
as the best few of its chunks. Kept per chunk, one row for all constraints, so that
documents may be bound in batches, and a chunk that was edited replaces itself.

How close a chunk is to a constraint does not depend on who asks what, so a ranking
looks it up. A row knows its chunk by a keyed fingerprint of the text, and its
constraints by keyed fingerprints of their words: of whatever reads differently today,
nothing is known. What stands in a row are similarities, never the vector of a text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sdrag.state.keys import Keys
from sdrag.vocabulary import Constraint, Passage

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Affinities", "Closeness", "DocumentAffinities", "forget_chunks"]

_BEST = 5
_RULE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Closeness:
    """
    Constraints against texts, both of shape (constraints, texts).

    Args:
        dense: Cosines of the constraints as written: the paper's binding scores.
        joined: The hybrid strategy's: by meaning, and by the words they share.
    """

    dense: Matrix
    joined: Matrix


class Affinities(Protocol):
    """Where closeness to chunks and documents lives."""

    def note(
        self,
        passages: Sequence[Passage],
        constraints: Sequence[Constraint],
        close: Closeness,
    ) -> None:
        """Keep how close the constraints are to the passages of a batch."""
        ...

    def read(
        self, constraints: Sequence[Constraint]
    ) -> Mapping[str, Mapping[str, float]]:
        """Return each document's closeness to each constraint, by their ids."""
        ...

    def known(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Closeness:
        """
        Return what was kept of these passages, rounded to half precision.

        Both matrices are nan where a passage, as it reads today, was not compared with
        a constraint as it reads today.
        """
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
        close: Closeness,
    ) -> None:
        """Keep a batch; see `Affinities.note`."""
        rules = [self._rule(constraint) for constraint in constraints]
        ruleset = self._keys.ruleset(rules)
        joined, dense = close.joined.astype("<f2").T, close.dense.astype("<f2").T
        rows = [
            (
                passage.id,
                passage.document_id,
                self._fingerprint(passage.text),
                ruleset,
                joined[place].tobytes(),
                dense[place].tobytes(),
            )
            for place, passage in enumerate(passages)
        ]
        with self._transaction() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "INSERT OR IGNORE INTO ruleset VALUES (?, ?)",
                (ruleset, b"".join(rules)),
            )
            connection.executemany(
                "INSERT OR REPLACE INTO affinity VALUES (?, ?, ?, ?, ?, ?)", rows
            )

    def read(
        self, constraints: Sequence[Constraint]
    ) -> Mapping[str, Mapping[str, float]]:
        """Return each document's closeness; see `Affinities.read`."""
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

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
                "SELECT document, ruleset, joined FROM affinity"
                " WHERE document IS NOT NULL"
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

    def known(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Closeness:
        """Look chunks up; see `Affinities.known`."""
        import numpy as np  # noqa: PLC0415 -- as above

        rules = [self._rule(constraint) for constraint in constraints]
        shape = (len(rules), len(passages))
        dense, joined = (np.full(shape, np.nan, dtype=np.float32) for _ in range(2))
        places: dict[bytes, tuple[list[int], list[int]]] = {}
        with self._transaction() as connection:
            connection.execute("BEGIN")  # a row and its rules of one moment
            for column, passage in enumerate(passages):
                row = connection.execute(
                    "SELECT ruleset, joined, dense FROM affinity"
                    " WHERE passage = ? AND fingerprint = ?",
                    (passage.id, self._fingerprint(passage.text)),
                ).fetchone()
                if row is None:
                    continue
                if row[0] not in places:
                    places[row[0]] = _places(rules, _listed(connection, row[0]))
                asked, kept = places[row[0]]
                joined[asked, column] = np.frombuffer(row[1], dtype="<f2")[kept]
                dense[asked, column] = np.frombuffer(row[2], dtype="<f2")[kept]
        return Closeness(dense, joined)

    def _rule(self, constraint: Constraint) -> bytes:
        return self._keys.of("near", constraint.id, constraint.text)

    def _fingerprint(self, text: str) -> bytes:
        return self._keys.of("passage", text)


def forget_chunks(connection: sqlite3.Connection, passage_ids: Sequence[str]) -> None:
    """Forget chunks that left the index or read differently today."""
    connection.executemany(
        "DELETE FROM affinity WHERE passage = ?", [(one,) for one in passage_ids]
    )


def _listed(connection: sqlite3.Connection, ruleset: bytes) -> list[bytes]:
    """Return the rules of a set, in the order of the rows' scores."""
    (joined,) = connection.execute(
        "SELECT rules FROM ruleset WHERE id = ?", (ruleset,)
    ).fetchone()
    return [joined[at : at + _RULE_BYTES] for at in range(0, len(joined), _RULE_BYTES)]


def _places(
    rules: Sequence[bytes], listed: Sequence[bytes]
) -> tuple[list[int], list[int]]:
    """Return where the rules that are listed stand, among the rules and in the list."""
    at = {rule: place for place, rule in enumerate(listed)}
    asked = [place for place, rule in enumerate(rules) if rule in at]
    return asked, [at[rules[place]] for place in asked]
