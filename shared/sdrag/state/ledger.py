"""
What sessions were shown: the passages that were released, and the facts they show.

A row is a passage that was released in a session. Session, document, text and facts are
keyed hashes; a fact has the session in its hash, so no two sessions can be compared.
What is decided on a question is read and written in one transaction, so two processes
lose nothing. A row ends with its window. A session has room for `MOST_FACTS` facts; of
all rows the first to end make room.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from sdrag.state.database import Database
from sdrag.state.keys import Keys
from sdrag.state.statements import evict, may_evict, upsert
from sdrag.state.tables import changed_row, shown

MOST_FACTS = 10_000
"""Of one session. Where it has no room, nothing more is shown that tells a fact."""
_MOST_ROWS = 200_000


@dataclass(frozen=True, slots=True)
class Shown:
    """
    A passage that a session is shown: the keys of its text and its document.

    `facts`: what each contributes to the risk, from 0 to 1, by its key.
    """

    text: bytes
    document: bytes
    facts: Mapping[str, float]


Choose = Callable[[Sequence[Shown]], Iterable[Shown]]
"""Is given what a session was shown, and returns what it is shown now."""


class Ledger:
    """What sessions were shown, in the database of a state."""

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database, self._keys = database, keys

    def update(self, session: bytes, choose: Choose, now: float, until: float) -> None:
        """
        Show a session more until a time; nobody else decides on it meanwhile.

        Times are in seconds since 1970. What has ended by `now` is forgotten. What
        `choose` raises undoes everything, and so does a failure of the database.
        """
        if may_evict():
            with self._database.writing() as connection:
                connection.execute(shown.delete().where(shown.c.until <= now))
                evict(connection, shown.c.until, _MOST_ROWS)
        mine = shown.c.session == session
        with self._database.writing(session.hex()) as connection:
            connection.execute(shown.delete().where(mine, shown.c.until <= now))
            known = sa.select(shown).where(mine)
            rows = [
                Shown(row.text, row.document, self._read_facts(row.facts))
                for row in connection.execute(known.order_by(shown.c.text))
            ]
            more = [
                {
                    "session": session,
                    "text": each.text,
                    "document": each.document,
                    "facts": self._write_facts(each.facts),
                    "until": until,
                }
                for each in choose(rows)
            ]
            upsert(connection, shown, more)

    def _write_facts(self, facts: Mapping[str, float]) -> str:
        written = json.dumps(dict(facts), separators=(",", ":"))
        return self._keys.cover_written(written)

    def _read_facts(self, written: str) -> dict[str, float]:
        try:
            facts = json.loads(self._keys.uncover_written(written))
            return {fact: float(risk) for fact, risk in facts.items()}
        except (AttributeError, TypeError, ValueError):
            raise changed_row() from None
