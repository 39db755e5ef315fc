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
from itertools import chain

from sdrag.state.database import Connection, Database, among, replacing
from sdrag.state.keys import Keys
from sdrag.state.rulesets import Rulesets
from sdrag.vocabulary import Binding, Constraint, Passage

__all__ = ["Bindings", "Lineage", "Link", "keep_best"]

Link = tuple[Passage, Sequence[Passage]]
"""A summary, and all that it was made from: summaries and chunks."""

_BIND = replacing("binding", "rule, passage", "score")
_KNOW = replacing("passage", "id", "fingerprint, ruleset")
_KNOWN = "SELECT id, fingerprint, ruleset FROM passage WHERE id IN"

_Identity = tuple[str, bytes]
"""A passage's id, and the fingerprint of its text."""


class Bindings:
    """
    Which constraints are bound to which passages.

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
        """
        Bind passages, replacing what was known of them.

        Args:
            passages: A batch of the corpus.
            constraints: Those that every passage of the batch was compared with.
            bindings: At least the `top_n` best of each constraint within the batch.
            top_n: How many passages each constraint keeps over the whole corpus.
            floor: Every passage with at least this score is bound too.
        """
        rules = {constraint.id: self._rule(constraint) for constraint in constraints}
        rows = [
            (rules[binding.constraint_id], binding.passage_id, binding.score)
            for binding in bindings
        ]
        with self._database.writing() as connection:
            self._note(connection, passages, frozenset(rules.values()))
            connection.executemany(_BIND, rows)
            keep_best(connection, rules.values(), top_n=top_n, floor=floor)

    def read(
        self, passages: Sequence[Passage], constraints: Sequence[Constraint]
    ) -> list[dict[str, float] | None]:
        """
        Return, for each passage, its bound constraints' ids and scores.

        `None` says that the passage, as it reads today, was not bound against every
        one of the constraints as they read today.
        """
        rules = {self._rule(constraint): constraint.id for constraint in constraints}
        own = [self._identity(passage) for passage in passages]
        with self._database.reading() as connection:
            sources = _sources(connection, dict(own))
            every = dict.fromkeys(name for name, _ in chain(own, *sources.values()))
            bound = self._bound(connection, every, rules)
        return [
            _united(map(bound.get, (identity, *sources.get(identity[0], ()))))
            for identity in own
        ]

    def forget(self, passage_ids: Iterable[str]) -> None:
        """Remove passages that left the index."""
        ids = [(passage_id,) for passage_id in passage_ids]
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM passage WHERE id = ?", ids)
            connection.executemany("DELETE FROM source WHERE summary = ?", ids)
            _forget_bound(connection, [name for (name,) in ids])

    def add(
        self,
        constraint: Constraint,
        nearest: Sequence[Passage],
        bindings: Sequence[Binding],
    ) -> None:
        """
        Bind a constraint, and mark every known passage as compared with it.

        Bindings to passages that read differently today are left out.

        Args:
            constraint: New or reworded.
            nearest: The passages that it was compared with.
            bindings: Of the constraint, to some of these.
        """
        rule = self._rule(constraint)
        with self._database.writing() as connection:
            own = set(map(self._identity, nearest))
            fresh = {
                name
                for name, fingerprint, _ in among(connection, _KNOWN, dict(own))
                if (name, fingerprint) in own
            }
            rows = [(rule, b.passage_id, b.score) for b in bindings]
            connection.executemany(_BIND, [row for row in rows if row[1] in fresh])
            self._recompare(connection, lambda rules: rules | {rule})

    def remove(self, constraint: Constraint) -> None:
        """Forget a constraint's bindings."""
        rule = self._rule(constraint)
        with self._database.writing() as connection:
            connection.execute("DELETE FROM binding WHERE rule = ?", (rule,))
            self._recompare(connection, lambda rules: rules - {rule})

    def all(self, constraints: Sequence[Constraint]) -> tuple[Binding, ...]:
        """Return every binding of the constraints, best first for each."""
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

    def _bound(
        self, connection: Connection, ids: Iterable[str], rules: Mapping[bytes, str]
    ) -> dict[_Identity, dict[str, float]]:
        """Return what passages are bound to, without those that are in doubt."""
        known = list(among(connection, _KNOWN, ids))
        lists = self._rulesets.read(connection, {ruleset for *_, ruleset in known})
        whole = {key for key, listed in lists.items() if rules.keys() <= set(listed)}
        bound: dict[_Identity, dict[str, float]] = {
            (name, fingerprint): {}
            for name, fingerprint, ruleset in known
            if ruleset in whole
        }
        scores = {name: own for (name, _), own in bound.items()}
        for name, rule, score in among(
            connection,
            "SELECT passage, rule, score FROM binding WHERE passage IN",
            scores,
        ):
            if rule in rules:
                scores[name][rules[rule]] = score
        return bound

    def _note(
        self,
        connection: Connection,
        passages: Sequence[Passage],
        rules: frozenset[bytes],
    ) -> None:
        """Remember against which rules passages were bound; forget older texts'."""
        own = dict(map(self._identity, passages))
        known = {name: rest for name, *rest in among(connection, _KNOWN, own)}
        edited = [name for name, (words, _) in known.items() if words != own[name]]
        _forget_bound(connection, edited)
        lists = self._rulesets.read(connection, {key for _, key in known.values()})
        compared = [
            rules
            if name in edited or name not in known
            else rules.union(lists.get(known[name][1], ()))
            for name in own
        ]
        rulesets = self._rulesets.write(connection, list(map(sorted, compared)))
        connection.executemany(
            _KNOW,
            [
                (name, fingerprint, ruleset)
                for (name, fingerprint), ruleset in zip(
                    own.items(), rulesets, strict=True
                )
            ],
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
        known = [
            key for (key,) in connection.execute("SELECT DISTINCT ruleset FROM passage")
        ]
        lists = self._rulesets.read(connection, known)
        changed = [sorted(change(frozenset(lists.get(key, ())))) for key in known]
        moves = zip(self._rulesets.write(connection, changed), known, strict=True)
        # Moves may chain, but only towards sets that hold (or lack) the rule already,
        # which the change leaves where they are: the order does not matter.
        connection.executemany(
            "UPDATE passage SET ruleset = ? WHERE ruleset = ?", moves
        )

    def _identity(self, passage: Passage) -> _Identity:
        return passage.id, self._keys.passage(passage.text)

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
    connection.executemany(
        "DELETE FROM binding WHERE rule = ? AND score < ?"
        " AND passage NOT IN (SELECT passage FROM binding WHERE rule = ?"
        "  ORDER BY score DESC, passage LIMIT ?)",
        [(rule, floor, rule, top_n) for rule in rules],
    )


def _sources(
    connection: Connection, summaries: Iterable[str]
) -> dict[str, list[_Identity]]:
    """Return what summaries were made from."""
    found: dict[str, list[_Identity]] = {}
    for summary, name, fingerprint in among(
        connection,
        "SELECT summary, passage, fingerprint FROM source WHERE summary IN",
        summaries,
    ):
        found.setdefault(summary, []).append((name, fingerprint))
    return found


def _united(bound: Iterable[dict[str, float] | None]) -> dict[str, float] | None:
    """Return what a passage and its sources are bound to; None in doubt."""
    scores: dict[str, float] = {}
    for own in bound:
        if own is None:
            return None
        for name, score in own.items():
            scores[name] = max(score, scores.get(name, score))
    return scores


def _forget_bound(connection: Connection, ids: Sequence[str]) -> None:
    """Forget what passages are bound to."""
    connection.executemany(
        "DELETE FROM binding WHERE passage = ?", [(name,) for name in ids]
    )


class Lineage:
    """
    What summaries were made from.

    Args:
        database: Of the state.
        keys: Of the state.
    """

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database = database
        self._keys = keys

    def link(self, links: Iterable[Link]) -> None:
        """Have summaries inherit from what they were made from, and nothing else."""
        given = [(summary.id, sources) for summary, sources in links]
        rows = [
            (summary, source.id, self._keys.passage(source.text))
            for summary, sources in given
            for source in sources
        ]
        with self._database.writing() as connection:
            connection.executemany(
                "DELETE FROM source WHERE summary = ?",
                [(summary,) for summary, _ in given],
            )
            connection.executemany(
                "INSERT INTO source VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows
            )

    def key(self, purpose: str) -> bytes:
        """Return a secret key, the same in every process for the same purpose."""
        return self._keys.passage(f"key for {purpose}")
