"""
The URL of a state in PostgreSQL: the server's part, our two parameters, no password.

    postgresql://user@host/database?schema=sdrag&key=/run/secrets/sdrag.key

`schema` names where the tables are, and `key` the file with the key of the hashes. All
else is libpq's. The password is kept apart from what may be printed, logged or pickled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from sdrag.errors import UsageError

__all__ = ["PostgresAddress", "is_postgres"]

_SCHEMES = ("postgresql://", "postgres://")
_SHORTENED = ("postgresql:/", "postgres:/")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_DEFAULT_SCHEMA = "sdrag"
_PLACES = frozenset({"dbname", "host", "port", "service"})
_PASSWORDS = frozenset({"password", "sslpassword"})


def is_postgres(where: str) -> bool:
    """
    Say whether a state is in PostgreSQL.

    Raises:
        UsageError: It was, before it became a `Path`, which drops a slash.
    """
    if where.startswith(_SCHEMES):
        return True
    if where.startswith(_SHORTENED):
        raise UsageError(
            "The URL of the state lost a slash.", hint="Pass it as text, not a Path."
        )
    return False


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """
    Where a state is.

    Args:
        conninfo: What libpq is given; it may hold a password.
        shown: The whole URL without a password.
        schema: Of the database, in which the tables are.
        key: The path of the key file, if the URL names one.
    """

    conninfo: str = field(repr=False)
    shown: str = field(repr=False)
    schema: str
    key: str | None

    @property
    def place(self) -> str:
        """Where the tables are, whoever logs in and however."""
        parts = urlsplit(self.shown)
        named = [pair for pair in parse_qsl(parts.query) if pair[0] in _PLACES]
        hosts = parts.netloc.rpartition("@")[2]
        return f"{hosts}{parts.path} {sorted(named)} {self.schema}"

    @classmethod
    def read(cls, url: str) -> Self:
        """
        Read a URL.

        Raises:
            UsageError: It is none, or its schema is no plain name.
        """
        try:
            parts = urlsplit(url)
            given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
        except ValueError:
            given = []
            if "?" in url or "[" in url:
                raise UsageError(
                    "The URL of the state cannot be read.",
                    hint="Write postgresql://user@host/database?schema=NAME&key=FILE.",
                ) from None
        own = dict(given)
        schema = own.get("schema", _DEFAULT_SCHEMA)
        if not _SCHEMA.fullmatch(schema):
            raise UsageError(
                "The schema of the state is no plain name.",
                hint="Use small letters, digits and underscores: `?schema=sdrag`.",
            )
        theirs = [pair for pair in given if pair[0] not in {"schema", "key"}]
        public = [pair for pair in given if pair[0] not in _PASSWORDS]
        user, at, hosts = parts.netloc.rpartition("@")
        bare = f"{user.partition(':')[0]}{at}{hosts}"
        return cls(
            conninfo=_url(parts.netloc, parts.path, theirs),
            shown=_url(bare, parts.path, public),
            schema=schema,
            key=own.get("key"),
        )


def _url(netloc: str, path: str, given: list[tuple[str, str]]) -> str:
    query = urlencode(given, quote_via=quote)
    # `urlunsplit` would drop the slashes of an empty host.
    return f"postgresql://{netloc}{urlunsplit(('', '', path, query, ''))}"
