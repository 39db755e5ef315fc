"""
What a summary was made from, beside the bindings: it inherits through these links.

A summary may repeat what any of its sources says, so it is bound to whatever they are
bound to. The links are kept and not copies of the bindings: a constraint that is bound
to a source later holds for the summary at once, and what is inherited takes none of the
N places of a constraint. A link knows its source by a keyed fingerprint of the text
that was summarized. A source that reads differently today, left the index or was never
bound leaves the summary in doubt, and every constraint holds for it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from sdrag.vocabulary import Passage

__all__ = [
    "Lineage",
    "Link",
    "Links",
    "forget_links",
    "sources_of",
]

Link = tuple[Passage, Sequence[Passage]]
"""A summary, and all that it was made from: summaries and chunks."""


class Lineage(Protocol):
    """Where a binding store keeps what summaries inherit from."""

    def link(self, links: Iterable[Link]) -> None:
        """Have summaries inherit from what they were made from, and nothing else."""
        ...

    def key(self, purpose: str) -> bytes:
        """Return a secret key, the same in every process for the same purpose."""
        ...


class Links:
    """
    Lineage in the database of a binding store.

    Args:
        connection: Opens the database for one transaction.
        fingerprint: The store's keyed hash of a text.
    """

    def __init__(
        self,
        connection: Callable[[], AbstractContextManager[sqlite3.Connection]],
        fingerprint: Callable[[str], bytes],
    ) -> None:
        self._connection = connection
        self._fingerprint = fingerprint

    def link(self, links: Iterable[Link]) -> None:
        """Have summaries inherit; see `Lineage.link`."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")  # two writers wait, none fails
            for summary, sources in links:
                forget_links(connection, [summary.id])
                connection.executemany(
                    "INSERT OR IGNORE INTO source VALUES (?, ?, ?)",
                    [(summary.id, s.id, self._fingerprint(s.text)) for s in sources],
                )

    def key(self, purpose: str) -> bytes:
        """Return a secret key; see `Lineage.key`."""
        return self._fingerprint(f"key for {purpose}")


def sources_of(
    connection: sqlite3.Connection, passage_id: str
) -> list[tuple[str, bytes]]:
    """Return the ids and fingerprints of a summary's sources; a chunk has none."""
    return connection.execute(
        "SELECT passage, fingerprint FROM source WHERE summary = ?", (passage_id,)
    ).fetchall()


def forget_links(connection: sqlite3.Connection, summary_ids: Sequence[str]) -> None:
    """Forget summaries that left the index."""
    connection.executemany(
        "DELETE FROM source WHERE summary = ?", [(one,) for one in summary_ids]
    )
