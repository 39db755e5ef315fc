"""Lists of rules, each kept once: a row of another table names its list by a hash."""

from __future__ import annotations

from collections.abc import Sequence

from sdrag.state.database import Connection
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

    def write(self, connection: Connection, rules: Sequence[bytes]) -> bytes:
        """Keep a list in its order, and return its key."""
        key = self._keys.ruleset(rules)
        if key not in self._known:
            connection.execute(
                "INSERT INTO ruleset VALUES (?, ?) ON CONFLICT DO NOTHING",
                (key, b"".join(rules)),
            )
        return key

    def read(self, connection: Connection, key: bytes) -> tuple[bytes, ...]:
        """Return the list behind a key; it never changes, for the key is its hash."""
        if key not in self._known:
            (joined,) = connection.execute(
                "SELECT rules FROM ruleset WHERE id = ?", (key,)
            ).fetchone()
            self._known[key] = tuple(
                joined[start : start + RULE_BYTES]
                for start in range(0, len(joined), RULE_BYTES)
            )
        return self._known[key]
