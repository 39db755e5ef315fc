"""
How close each constraint is to each chunk and document.

A sentence about a snap hook says little; the log it is in says that a constraint on
a lifeline means this document and no other. So a document is as close to a constraint
as the best few of its chunks. Kept per chunk, one row for all constraints, so that
documents may be bound in batches, and a chunk that was edited replaces itself.

How close a chunk is to a constraint does not depend on who asks what, so a ranking
looks it up. A row knows its chunk by a keyed fingerprint of the text, and its
constraints by keyed fingerprints of their words: of whatever reads differently today,
nothing is known. A row holds similarities, never the vector of a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdrag.state.database import Connection, Database, among, replacing
from sdrag.state.ids import given_id, stored_id
from sdrag.state.keys import Keys
from sdrag.state.rulesets import Rulesets
from sdrag.state.stores import Closeness
from sdrag.vocabulary import Constraint, Passage

__all__ = ["DocumentAffinities", "forget_chunks"]

_BEST = 5
_WRITE = replacing(
    "affinity", "passage", "document, fingerprint, ruleset, joined, dense"
)
_KNOWN = (
    "SELECT passage, fingerprint, ruleset, joined, dense FROM affinity WHERE passage IN"
)


class DocumentAffinities:
    """
    An `AffinityStore` in the database of a state.

    Args:
        database: Of the state.
        keys: Of the state.
    """

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database = database
        self._keys = keys
        self._rulesets = Rulesets(keys)

    def note(
        self,
        passages: Sequence[Passage],
        constraints: Sequence[Constraint],
        close: Closeness,
    ) -> None:
        """Keep a batch; see `AffinityStore.note`."""
        rules = [self._rule(constraint) for constraint in constraints]
        joined, dense = close.joined.astype("<f2").T, close.dense.astype("<f2").T
        with self._database.writing() as connection:
            (ruleset,) = self._rulesets.write(connection, [rules])
            connection.executemany(
                _WRITE,
                [
                    (
                        stored_id(passage.id),
                        passage.document_id and stored_id(passage.document_id),
                        self._keys.passage(passage.text),
                        ruleset,
                        joined[column].tobytes(),
                        dense[column].tobytes(),
                    )
                    for column, passage in enumerate(passages)
                ],
            )

    def read(
        self, constraints: Sequence[Constraint]
    ) -> Mapping[str, Mapping[str, float]]:
        """Return each document's closeness; see `AffinityStore.read`."""
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

        names = {self._rule(rule): rule.id for rule in constraints}
        found: dict[str, dict[str, float]] = {}
        rows: dict[tuple[str, bytes], list[bytes]] = {}
        with self._database.reading() as connection:
            for document, ruleset, scores in connection.execute(
                "SELECT document, ruleset, joined FROM affinity"
                " WHERE document IS NOT NULL"
            ):
                rows.setdefault((document, ruleset), []).append(scores)
            lists = self._rulesets.read(connection, {key for _, key in rows})
        for (document, ruleset), scores in rows.items():
            if ruleset not in lists:
                continue
            joined = np.frombuffer(b"".join(scores), dtype="<f2")
            matrix = np.sort(joined.reshape(len(scores), -1).astype(np.float32), 0)
            best = matrix[-_BEST:].mean(axis=0).tolist()
            close = found.setdefault(given_id(document), {})
            for rule, score in zip(lists[ruleset], best, strict=True):
                if rule in names:
                    name = names[rule]
                    close[name] = max(score, close.get(name, score))
        return {document: close for document, close in found.items() if close}

    def known(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> Closeness:
        """Look chunks up; see `AffinityStore.known`."""
        import numpy as np  # noqa: PLC0415 -- as above

        rules = [self._rule(constraint) for constraint in constraints]
        shape = (len(rules), len(passages))
        dense, joined = (np.full(shape, np.nan, dtype=np.float32) for _ in range(2))
        own = [
            (stored_id(passage.id), self._keys.passage(passage.text))
            for passage in passages
        ]
        with self._database.reading() as connection:
            rows = {
                (name, fingerprint): rest
                for name, fingerprint, *rest in among(connection, _KNOWN, dict(own))
            }
            lists = self._rulesets.read(connection, {key for key, *_ in rows.values()})
        indices = {key: _indices(rules, listed) for key, listed in lists.items()}
        for column, identity in enumerate(own):
            ruleset, *close = rows.get(identity, (b"",))
            if ruleset in indices:
                asked, kept = indices[ruleset]
                for matrix, row in zip((joined, dense), close, strict=True):
                    matrix[asked, column] = np.frombuffer(row, dtype="<f2")[kept]
        return Closeness(dense, joined)

    def _rule(self, constraint: Constraint) -> bytes:
        return self._keys.of("near", constraint.id, constraint.text)


def forget_chunks(connection: Connection, passage_ids: Sequence[str]) -> None:
    """Forget chunks that left the index or read differently today."""
    connection.executemany(
        "DELETE FROM affinity WHERE passage = ?",
        [(passage_id,) for passage_id in passage_ids],
    )


def _indices(
    rules: Sequence[bytes], listed: Sequence[bytes]
) -> tuple[list[int], list[int]]:
    """Return the indices of the rules that are listed, in `rules` and in the list."""
    index_of = {rule: index for index, rule in enumerate(listed)}
    asked = [index for index, rule in enumerate(rules) if rule in index_of]
    return asked, [index_of[rules[index]] for index in asked]
