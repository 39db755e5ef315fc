"""Lists of rules, each kept once: a row of another table names its list by a hash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sdrag.state.database import Connection, among
from sdrag.state.keys import Keys

__all__ = ["RULE_BYTES", "Rulesets"]

RULE_BYTES = 16


class Rulesets:
    """
    The lists of rules in the database of a state; a list that was read is remembered.

    Args:
        keys: Of the state.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._known: dict[bytes, tuple[bytes, ...]] = {}

    def write(
        self, connection: Connection, lists: Sequence[Sequence[bytes]]
    ) -> list[bytes]:
        """
        Keep lists, each in its order, and return their keys.

        They are written even if they were read before: another file may have taken the
        place of the one that they were read from.
        """
        distinct = {rules: self._keys.ruleset(rules) for rules in map(tuple, lists)}
        connection.executemany(
            "INSERT INTO ruleset VALUES (?, ?) ON CONFLICT DO NOTHING",
            [(key, b"".join(rules)) for rules, key in distinct.items()],
        )
        return [distinct[tuple(rules)] for rules in lists]

    def read(
        self, connection: Connection, keys: Iterable[bytes]
    ) -> Mapping[bytes, tuple[bytes, ...]]:
        """
        Return the lists behind keys, and nothing of a key that has none.

        A list never changes, for the key is its hash.
        """
        wanted = set(keys)
        new = sorted(wanted - self._known.keys())
        for key, joined in among(
            connection, "SELECT id, rules FROM ruleset WHERE id IN", new
        ):
            self._known[key] = tuple(
                joined[start : start + RULE_BYTES]
                for start in range(0, len(joined), RULE_BYTES)
            )
        return {key: self._known[key] for key in wanted if key in self._known}
