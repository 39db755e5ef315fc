"""
Which constraints took something out of a chunk before, for whom.

With a top K the question chooses constraints, and the answers to two questions could be
subtracted from one another. So what was once taken for an audience is taken for it from
then on. An audience is a set of constraints that bind: all whom the same ones bind
learn no more together than one of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

__all__ = ["Enforced", "EnforcedStore"]


class EnforcedStore(Protocol):
    """Where it is kept what was taken out before."""

    def add(
        self, audience: bytes, taken: Mapping[bytes, Sequence[bytes]]
    ) -> dict[bytes, frozenset[bytes]]:
        """
        Keep which rules take something out of texts.

        Args:
            audience: The key of the rules that bind.
            taken: The rules by the text's key.

        Returns:
            For each text all rules that ever did, those of now among them.
        """
        ...


class Enforced:
    """
    The same in the database of a state.

    Args:
        transaction: Opens the database.
    """

    def __init__(
        self, transaction: Callable[[], AbstractContextManager[sqlite3.Connection]]
    ) -> None:
        self._transaction = transaction

    def add(
        self, audience: bytes, taken: Mapping[bytes, Sequence[bytes]]
    ) -> dict[bytes, frozenset[bytes]]:
        """Keep, and return all; see `EnforcedStore.add`."""
        with self._transaction() as connection:
            connection.execute("BEGIN IMMEDIATE")  # two writers wait, none fails
            connection.executemany(
                "INSERT OR IGNORE INTO enforced VALUES (?, ?, ?)",
                [(audience, text, rule) for text, own in taken.items() for rule in own],
            )
            return {
                text: frozenset(
                    rule
                    for (rule,) in connection.execute(
                        "SELECT rule FROM enforced WHERE audience = ? AND text = ?",
                        (audience, text),
                    )
                )
                for text in taken
            }
