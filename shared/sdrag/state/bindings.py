"""
Which constraints are bound to which passages.

A passage is known by its id and a keyed fingerprint of its text, so an edited passage
counts as never bound. A constraint is known by its id and a keyed fingerprint of its
words, so one that was reworded is bound anew and one that was removed is not looked up.

Writing keeps, for each constraint, its N best passages of everything ever written, so
binding batch by batch ends where binding the whole corpus at once does, and also
every passage above the similarity floor: a passage cannot slip through because a
constraint's N was used up elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from sdrag.errors import UsageError, require_extra
from sdrag.state.database import Database
from sdrag.state.keys import RULE_BYTES, Keys, join_rules, split_rules
from sdrag.state.statements import among, rows_among, upsert
from sdrag.state.tables import binding, chunk, form
from sdrag.vocabulary import Constraint, Passage

if TYPE_CHECKING:
    import networkx as nx

_SAMPLE = 1000
_CHUNKS = among(sa.select(chunk), chunk.c.id)


@dataclass(frozen=True, slots=True)
class Binding:
    """A constraint attached to a passage at ingest, and their cosine similarity."""

    constraint_id: str
    passage_id: str
    score: float


class Bindings:
    """The bindings in the database of a state; `HostError` says that it failed."""

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database = database
        self._keys = keys

    def write(
        self,
        passages: Sequence[Passage],
        constraints: Sequence[Constraint],
        bindings: Sequence[Binding],
        *,
        top_n: int,
        floor: float,
    ) -> None:
        """
        Bind passages, replacing what was known of them.

        Args:
            passages: A batch of the corpus.
            constraints: Those that every passage of the batch was compared with.
            bindings: At least the `top_n` best of each constraint within the batch.
            top_n: How many passages each constraint keeps over the whole corpus.
            floor: Every passage with at least this score is bound too.

        Raises:
            UsageError: A database cannot hold an id.
        """
        if not all(_fits(passage.id) for passage in passages):
            raise UsageError(
                "An id holds a NUL character or half a surrogate.",
                hint="A database cannot hold it: give the passage another id.",
            )
        rules = {constraint.id: self._rule(constraint) for constraint in constraints}
        rows = [
            {"rule": rules[b.constraint_id], "chunk": b.passage_id, "score": b.score}
            for b in bindings
        ]
        with self._database.writing() as connection:
            self._note(connection, passages, rules.values())
            upsert(connection, binding, rows)
            _keep_best(connection, rules.values(), top_n=top_n, floor=floor)

    def read(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> list[dict[str, float] | None]:
        """
        Return, for each passage, its bound constraints' ids and scores.

        `None` says that the passage, as it reads today, was not bound against every
        one of the constraints as they read today.
        """
        rules = {self._rule(constraint): constraint.id for constraint in constraints}
        prints = {p.id: self._keys.passage(p.text) for p in passages if _fits(p.id)}
        scores: dict[str, dict[str, float]] = {}
        compared: dict[bytes, bool] = {}
        with self._database.reading() as connection:
            for row in rows_among(connection, _CHUNKS, prints):
                if row.rules not in compared:
                    compared[row.rules] = rules.keys() <= {*split_rules(row.rules)}
                if row.fingerprint == prints[row.id] and compared[row.rules]:
                    scores[row.id] = {}
            bound = among(sa.select(binding), binding.c.chunk)
            for row in rows_among(connection, bound, list(scores)):
                if row.rule in rules:
                    scores[row.chunk][rules[row.rule]] = row.score
        return [scores.get(passage.id) for passage in passages]

    def graph(self, constraints: Iterable[Constraint]) -> nx.Graph[str]:
        """
        Return the binding graph (SD-RAG, section III): data and constraint nodes.

        Each is named `chunk:ID` or `constraint:ID`, which `kind` and `id` say too. An
        edge is a binding with its `similarity`. It holds no text, of neither kind.

        Raises:
            MissingExtraError: The extra `linkage` is not installed.
        """
        with require_extra("linkage", "A binding graph"):
            import networkx as nx  # noqa: PLC0415 -- an extra
        rules = {self._rule(each): f"constraint:{each.id}" for each in constraints}
        graph: nx.Graph[str] = nx.Graph()
        with self._database.reading() as connection:
            chunks = [
                f"chunk:{row.id}" for row in connection.execute(sa.select(chunk.c.id))
            ]
            for node in (*rules.values(), *chunks):
                kind, _, name = node.partition(":")
                graph.add_node(node, kind=kind, id=name)
            edges = among(sa.select(binding), binding.c.rule)
            for row in rows_among(connection, edges, rules):
                graph.add_edge(
                    rules[row.rule], f"chunk:{row.chunk}", similarity=row.score
                )
        return graph

    def find_unbound(self, constraints: Iterable[Constraint]) -> list[str]:
        """
        Return the ids of constraints that none of the passages was compared with.

        A sample of the passages is read; where none was bound there is nothing to tell.
        """
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(chunk.c.rules).limit(_SAMPLE)).all()
        if not rows:
            return []
        bound = {rule for row in {*rows} for rule in split_rules(row.rules)}
        return [each.id for each in constraints if self._rule(each) not in bound]

    def place(self, documents: Mapping[str, bytes]) -> None:
        """Note in which documents, by key, chunks were read: none loses its forms."""
        with self._database.writing() as connection:
            listed = among(sa.select(form.c.document), form.c.document)
            known = rows_among(connection, listed, documents.values())
            read = {row.document for row in known}
            rows = [
                {"c": name, "d": document}
                for name, document in documents.items()
                if document in read and _fits(name)
            ]
            if rows:
                named = chunk.c.id == sa.bindparam("c")
                changed = chunk.update().values(document=sa.bindparam("d"))
                connection.execute(changed.where(named), rows)

    def forget(self, passage_ids: Iterable[str]) -> None:
        """Remove passages that left the index."""
        ids = list(filter(_fits, passage_ids))
        with self._database.writing() as connection:
            _delete(connection, binding.c.chunk, ids)
            _delete(connection, chunk.c.id, ids)

    def _note(
        self,
        connection: sa.Connection,
        passages: Sequence[Passage],
        rules: Iterable[bytes],
    ) -> None:
        """Remember against which rules passages were bound; forget older texts'."""
        prints = {p.id: self._keys.passage(p.text) for p in passages}
        known = {row.id: row for row in rows_among(connection, _CHUNKS, prints)}
        edited = {n for n, row in known.items() if row.fingerprint != prints[n]}
        _delete(connection, binding.c.chunk, edited)
        rows = []
        for name, fingerprint in prints.items():
            same = name in known and name not in edited
            before = split_rules(known[name].rules) if same else []
            compared = join_rules({*rules, *before})
            rows.append(
                {
                    "id": name,
                    "fingerprint": fingerprint,
                    "rules": compared,
                    "document": known[name].document if same else None,
                }
            )
        upsert(connection, chunk, rows)

    def _rule(self, constraint: Constraint) -> bytes:
        words = ("bound rule", constraint.id, constraint.text)
        return self._keys.of(*words, size=RULE_BYTES)


def _fits(passage_id: str) -> bool:
    return not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in passage_id)


def _keep_best(
    connection: sa.Connection, rules: Iterable[bytes], *, top_n: int, floor: float
) -> None:
    """Forget bindings below the floor that are not among a rule's best."""
    for rule in rules:
        best = (
            sa.select(binding.c.chunk)
            .where(binding.c.rule == rule)
            .order_by(binding.c.score.desc(), binding.c.chunk)
            .limit(top_n)
        )
        connection.execute(
            binding.delete().where(
                binding.c.rule == rule,
                binding.c.score < floor,
                binding.c.chunk.not_in(best),
            )
        )


def _delete(
    connection: sa.Connection, column: sa.Column[str], ids: Iterable[str]
) -> None:
    if rows := [{"c": name} for name in ids]:
        delete = sa.delete(column.table).where(column == sa.bindparam("c"))
        connection.execute(delete, rows)
