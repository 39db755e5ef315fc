"""
The seven tables of a state.

No text is in them, but for values of `value`, which are encrypted: documents, texts,
forms and constraints are keyed hashes, findings are offsets. `chunk` says against which
constraints a chunk was bound and in which document it was read, `binding` to which it
is close; `finding` what one reading found in one text, `form` what is to be known again
in one document. The rows of these two have a tag, a keyed hash of all that is in them.
`shown` says what a session was shown, and `value` what placeholders of released
passages stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from sdrag.errors import HostError, UsageError


def changed_row() -> HostError:
    """Return the error of a row that is not as sdrag wrote it, or is gone."""
    return HostError(
        "A row of the state is not as sdrag wrote it, or is gone.",
        hint="Restore the database from a backup, or forget the document and bind it.",
    )


def lost_state() -> UsageError:
    """Return the error of a state that is not there, and whose key is."""
    return UsageError(
        "The state is lost or empty, and its key has served it before.",
        hint="Restore the database from a backup. Or delete the key's file, or name"
        " another, to begin anew; then bind the corpus again.",
    )


def foreign_state() -> HostError:
    """Return the error of a database that holds something else."""
    return HostError(
        "The database of the state is not one of this version of sdrag's, and was left"
        " as it was.",
        hint="Name another file or another schema, or restore this one from a backup.",
    )


class _Checked(sa.TypeDecorator[Any]):
    """A type that is checked at reading: SQLite takes any value in any column."""

    impl: Any = sa.Text
    cache_ok = True

    def __init__(self, kind: sa.types.TypeEngine[Any]) -> None:
        super().__init__()
        self.impl = kind

    def result_processor(
        self, dialect: sa.Dialect, coltype: object
    ) -> Callable[[Any], Any] | None:
        """Refuse a value of another type, before SQLAlchemy converts it."""
        convert = super().result_processor(dialect, coltype)
        if dialect.name != "sqlite":
            return convert
        kind = self.impl_instance.python_type

        def read(value: Any) -> Any:
            if not isinstance(value, kind | None):
                raise changed_row()
            return value

        return read


tables = sa.MetaData()
_Bytes = _Checked(sa.LargeBinary())
_Text = _Checked(sa.Text())
_Number = _Checked(sa.Double())
_Id = _Checked(sa.Text().with_variant(sa.Text(collation="C"), "postgresql"))
"""Compared by bytes, as SQLite does."""

meta = sa.Table(
    "meta",
    tables,
    sa.Column("name", _Id, primary_key=True),
    sa.Column("value", _Bytes, nullable=False),
)
chunk = sa.Table(
    "chunk",
    tables,
    sa.Column("id", _Id, primary_key=True),
    sa.Column("fingerprint", _Bytes, nullable=False),
    sa.Column("rules", _Bytes, nullable=False),
    # Its document, once that has a row of `form`, which is not to be missing then.
    sa.Column("document", _Bytes, index=True),
)
binding = sa.Table(
    "binding",
    tables,
    sa.Column("rule", _Bytes, primary_key=True),
    sa.Column("chunk", _Id, primary_key=True, index=True),
    sa.Column("score", _Number, nullable=False),
)
finding = sa.Table(
    "finding",
    tables,
    sa.Column("text", _Bytes, primary_key=True),
    sa.Column("tag", _Bytes, primary_key=True),
    sa.Column("engine", _Bytes, nullable=False),
    sa.Column("rules", _Bytes, nullable=False),
    sa.Column("spans", _Text, nullable=False),
    # When a text was read by itself; null where its whole document was.
    sa.Column("seen", _Number, index=True),
)
form = sa.Table(
    "form",
    tables,
    sa.Column("document", _Bytes, primary_key=True),
    sa.Column("tag", _Bytes, nullable=False),
    sa.Column("forms", _Text, nullable=False),
)
shown = sa.Table(
    "shown",
    tables,
    sa.Column("session", _Bytes, primary_key=True),
    sa.Column("text", _Bytes, primary_key=True),
    sa.Column("document", _Bytes, nullable=False),
    sa.Column("facts", _Text, nullable=False),
    # When it is forgotten, in seconds since 1970.
    sa.Column("until", _Number, nullable=False, index=True),
)
value = sa.Table(
    "value",
    tables,
    sa.Column("key", _Bytes, primary_key=True),
    sa.Column("document", _Bytes, nullable=False, index=True),
    sa.Column("sealed", _Bytes, nullable=False),
    # When it is forgotten, in seconds since 1970.
    sa.Column("until", _Number, nullable=False, index=True),
)
