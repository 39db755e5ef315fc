"""
Values behind placeholders, for the answers of those who may see them.

A row belongs to one passage as it was released to one principal, in one session and
under one policy; its key is a keyed hash of all four, so who asks with another one
finds nothing. The values are encrypted with the key of the row, by Fernet under a key
that only the state's secret gives. They are forgotten after an hour, and with their
document.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import sqlalchemy as sa

from sdrag.errors import require_extra
from sdrag.state.database import Database
from sdrag.state.keys import Keys
from sdrag.state.statements import among, evict, may_evict, rows_among, upsert
from sdrag.state.tables import changed_row, value

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

_KEPT_SECONDS = 3_600.0
"""For which an answer can be made whole after its passages were released."""
_MOST_ROWS = 200_000


class Values:
    """The values in the database of a state."""

    def __init__(self, database: Database, keys: Keys) -> None:
        self._database, self._keys = database, keys

    def add(
        self, rows: Mapping[str, tuple[bytes, Mapping[str, str]]], now: float
    ) -> None:
        """
        Keep values.

        Args:
            rows: The key of the document and the values by their placeholders, by the
                key that `Keys.mark_release` gives.
            now: In seconds since 1970.

        Raises:
            HostError: The database failed.
        """
        cipher, until = self.cipher(), now + _KEPT_SECONDS
        written = [
            {"key": bytes.fromhex(key), "document": document, "until": until}
            | {"sealed": cipher.encrypt(json.dumps([key, dict(values)]).encode())}
            for key, (document, values) in rows.items()
        ]
        if not written:
            return
        with self._database.writing() as connection:
            connection.execute(value.delete().where(value.c.until <= now))
            if may_evict():
                evict(connection, value.c.until, _MOST_ROWS)
            upsert(connection, value, written)

    def read(self, keys: Iterable[str], now: float) -> dict[str, dict[str, str]]:
        """
        Return the values by key, where there are any.

        Raises:
            HostError: The database failed, or a row is not as it was written.
        """
        wanted = [bytes.fromhex(key) for key in keys]
        alive = among(sa.select(value).where(value.c.until > now), value.c.key)
        with self._database.reading() as connection:
            rows = list(rows_among(connection, alive, wanted))
        cipher = self.cipher()
        return {row.key.hex(): _open(cipher, row.key.hex(), row.sealed) for row in rows}

    def cipher(self) -> Fernet:
        """Return what encrypts values, if the extra `linkage` is installed."""
        with require_extra("linkage", "`disclosure.restore`"):
            from cryptography.fernet import Fernet  # noqa: PLC0415 -- an extra
        return Fernet(urlsafe_b64encode(self._keys.of("values", size=32)))


def _open(cipher: Fernet, key: str, sealed: bytes) -> dict[str, str]:
    try:
        known, values = json.loads(cipher.decrypt(sealed))
    except Exception:  # noqa: BLE001 -- whatever is wrong with it
        known, values = "", {}
    if known != key:
        raise changed_row()
    return dict(values)
