"""
Which constraints are bound to which passages, and what summaries were made from.

Bindings are never in the host's metadata: stores take flat values only, and the top
N over a shard is not the top N over the corpus. A passage is known by its id and a
keyed fingerprint of its text, so an edited passage counts as never bound. A constraint
is known by its id and a keyed fingerprint of its words, so one that was reworded is
bound anew and one that was removed is not looked up.

Writing keeps, for each constraint, its N best passages of everything ever written, so
binding batch by batch ends where binding the whole corpus at once does, and also
every passage above the similarity floor: a passage cannot slip through because a
constraint's N was used up elsewhere.

A summary may repeat what any of its sources says, so it inherits whatever they are
bound to. The links are kept and not copies of the bindings: a constraint that is bound
to a source later holds for the summary at once, and what is inherited takes none of the
N places of a constraint. A source that reads differently today, left the index or was
never bound leaves the summary in doubt, and every constraint holds for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sdrag.state.affinities import forget_chunks
from sdrag.state.database import Connection, Database, replacing
from sdrag.state.keys import Keys
from sdrag.state.rulesets import Rulesets
from sdrag.state.stores import Link
from sdrag.vocabulary import Binding, Constraint, Passage

__all__ = ["Bindings", "Lineage", "keep_best"]

_BIND = replacing("binding", "rule, passage", "score")
_KNOW = replacing("passage", "id", "fingerprint, ruleset")


class Bindings:
    """
    A `BindingStore` in the database of a state.

    Args:
        database: Of the state.
        keys: Of the state.
    """

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database = database
        self._keys = keys
        self._rules: dict[tuple[str, str], bytes] = {}
        self._rulesets = Rulesets(keys)

    def write(
        self,
        passages: Sequence[Passage],
        constraints: Sequence[Constraint],
        bindings: Sequence[Binding],
        *,
        top_n: int,
        floor: float,
    ) -> None:
        """Bind passages; see `BindingStore.write`."""
        rules = {constraint.id: self._rule(constraint) for constraint in constraints}
        rows = [
            (rules[binding.constraint_id], binding.passage_id, binding.score)
            for binding in bindings
        ]
        with self._database.writing() as connection:
            for passage in passages:
                self._note(connection, passage, frozenset(rules.values()))
            connection.executemany(_BIND, rows)
            keep_best(connection, rules.values(), top_n=top_n, floor=floor)

    def read(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> list[dict[str, float] | None]:
        """Look bindings up; see `BindingStore.read`."""
        rules = {self._rule(constraint): constraint.id for constraint in constraints}
        with self._database.reading() as connection:
            return [self._read_one(connection, passage, rules) for passage in passages]

    def forget(self, passage_ids: Iterable[str]) -> None:
        """Remove passages; see `BindingStore.forget`."""
        ids = [(passage_id,) for passage_id in passage_ids]
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM passage WHERE id = ?", ids)
            connection.executemany("DELETE FROM binding WHERE passage = ?", ids)
            connection.executemany("DELETE FROM source WHERE summary = ?", ids)
            forget_chunks(connection, [passage_id for (passage_id,) in ids])

    def add(
        self,
        constraint: Constraint,
        nearest: Sequence[Passage],
        bindings: Sequence[Binding],
    ) -> None:
        """Bind one constraint to a known index; see `BindingStore.add`."""
        rule = self._rule(constraint)
        with self._database.writing() as connection:
            fresh = {
                passage.id for passage in nearest if self._is_fresh(connection, passage)
            }
            connection.executemany(
                _BIND,
                [
                    (rule, b.passage_id, b.score)
                    for b in bindings
                    if b.passage_id in fresh
                ],
            )
            self._recompare(connection, lambda rules: rules | {rule})

    def remove(self, constraint: Constraint) -> None:
        """Forget a constraint's bindings; see `BindingStore.remove`."""
        rule = self._rule(constraint)
        with self._database.writing() as connection:
            connection.execute("DELETE FROM binding WHERE rule = ?", (rule,))
            self._recompare(connection, lambda rules: rules - {rule})

    def all(self, constraints: Sequence[Constraint]) -> tuple[Binding, ...]:
        """Return every binding; see `BindingStore.all`."""
        with self._database.reading() as connection:
            return tuple(
                Binding(constraint.id, passage, score)
                for constraint in constraints
                for passage, score in connection.execute(
                    "SELECT passage, score FROM binding WHERE rule = ?"
                    " ORDER BY score DESC, passage",
                    (self._rule(constraint),),
                )
            )

    def _read_one(
        self,
        connection: Connection,
        passage: Passage,
        rules: Mapping[bytes, str],
    ) -> dict[str, float] | None:
        """Return what a passage is bound to and what it inherits; None in doubt."""
        sources = connection.execute(
            "SELECT passage, fingerprint FROM source WHERE summary = ?", (passage.id,)
        ).fetchall()
        scores: dict[str, float] = {}
        for identity in ((passage.id, self._keys.passage(passage.text)), *sources):
            bound = self._bound(connection, identity, rules)
            if bound is None:
                return None
            for name, score in bound.items():
                scores[name] = max(score, scores.get(name, score))
        return scores

    def _bound(
        self,
        connection: Connection,
        identity: tuple[str, bytes],
        rules: Mapping[bytes, str],
    ) -> dict[str, float] | None:
        passage_id, fingerprint = identity
        known = connection.execute(
            "SELECT fingerprint, ruleset FROM passage WHERE id = ?", (passage_id,)
        ).fetchone()
        if known is None or known[0] != fingerprint:
            return None
        if not rules.keys() <= set(self._rulesets.read(connection, known[1])):
            return None
        return {
            rules[rule]: score
            for rule, score in connection.execute(
                "SELECT rule, score FROM binding WHERE passage = ?", (passage_id,)
            )
            if rule in rules
        }

    def _note(
        self,
        connection: Connection,
        passage: Passage,
        rules: frozenset[bytes],
    ) -> None:
        """Remember against which rules a passage was bound; forget an older text's."""
        fingerprint = self._keys.passage(passage.text)
        known = connection.execute(
            "SELECT fingerprint, ruleset FROM passage WHERE id = ?", (passage.id,)
        ).fetchone()
        if known is not None and known[0] == fingerprint:
            rules |= set(self._rulesets.read(connection, known[1]))
        elif known is not None:
            connection.execute("DELETE FROM binding WHERE passage = ?", (passage.id,))
            forget_chunks(connection, [passage.id])
        connection.execute(
            _KNOW,
            (passage.id, fingerprint, self._rulesets.write(connection, sorted(rules))),
        )

    def _recompare(
        self,
        connection: Connection,
        change: Callable[[frozenset[bytes]], frozenset[bytes]],
    ) -> None:
        """
        Change against which rules every known passage counts as bound.

        Passages move to another set; a set itself never changes, for its id says what
        is in it, and a passage bound later must not inherit what it was not bound to.
        """
        rulesets = connection.execute("SELECT DISTINCT ruleset FROM passage")
        moves = [
            (
                self._rulesets.write(
                    connection,
                    sorted(change(frozenset(self._rulesets.read(connection, known)))),
                ),
                known,
            )
            for (known,) in rulesets.fetchall()
        ]
        # Moves may chain, but only towards sets that hold (or lack) the rule already,
        # which the change leaves where they are: the order does not matter.
        connection.executemany(
            "UPDATE passage SET ruleset = ? WHERE ruleset = ?", moves
        )

    def _is_fresh(self, connection: Connection, passage: Passage) -> bool:
        known = connection.execute(
            "SELECT fingerprint FROM passage WHERE id = ?", (passage.id,)
        ).fetchone()
        return known is not None and known[0] == self._keys.passage(passage.text)

    def _rule(self, constraint: Constraint) -> bytes:
        """Return the keyed fingerprint of a constraint; it is asked often, so kept."""
        words = (constraint.id, constraint.text)
        if words not in self._rules:
            self._rules[words] = self._keys.of("bound rule", *words)
        return self._rules[words]


def keep_best(
    connection: Connection, rules: Iterable[bytes], *, top_n: int, floor: float
) -> None:
    """Forget bindings below the floor that are not among a rule's best."""
    for rule in rules:
        connection.execute(
            "DELETE FROM binding WHERE rule = ? AND score < ?"
            " AND passage NOT IN (SELECT passage FROM binding WHERE rule = ?"
            "  ORDER BY score DESC, passage LIMIT ?)",
            (rule, floor, rule, top_n),
        )


class Lineage:
    """
    A `LineageStore` in the database of a state.

    Args:
        database: Of the state.
        keys: Of the state.
    """

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database = database
        self._keys = keys

    def link(self, links: Iterable[Link]) -> None:
        """Have summaries inherit; see `LineageStore.link`."""
        with self._database.writing() as connection:
            for summary, sources in links:
                connection.execute(
                    "DELETE FROM source WHERE summary = ?", (summary.id,)
                )
                connection.executemany(
                    "INSERT INTO source VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    [
                        (summary.id, source.id, self._keys.passage(source.text))
                        for source in sources
                    ],
                )

    def key(self, purpose: str) -> bytes:
        """Return a secret key; see `LineageStore.key`."""
        return self._keys.passage(f"key for {purpose}")
