"""
The six tables of a state.

No text is in them: documents, texts, forms and constraints are keyed hashes, findings
are offsets. `chunk` says against which constraints a chunk was bound and in which
document it was read, `binding` to which it is close; `finding` what one reading found
in one text, `form` what is to be known again in one document. The rows of these two
have a tag, a keyed hash of all that is in them. `shown` says what a session was shown.
"""

from __future__ import annotations

import sqlalchemy as sa

tables = sa.MetaData()
_Bytes = sa.LargeBinary
_Id = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
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
    sa.Column("score", sa.Double, nullable=False),
)
finding = sa.Table(
    "finding",
    tables,
    sa.Column("text", _Bytes, primary_key=True),
    sa.Column("tag", _Bytes, primary_key=True),
    sa.Column("engine", _Bytes, nullable=False),
    sa.Column("rules", _Bytes, nullable=False),
    sa.Column("spans", sa.Text, nullable=False),
    # When a text was read by itself; null where its whole document was.
    sa.Column("seen", sa.Double, index=True),
)
form = sa.Table(
    "form",
    tables,
    sa.Column("document", _Bytes, primary_key=True),
    sa.Column("tag", _Bytes, nullable=False),
    sa.Column("forms", sa.Text, nullable=False),
)
shown = sa.Table(
    "shown",
    tables,
    sa.Column("session", _Bytes, primary_key=True),
    sa.Column("text", _Bytes, primary_key=True),
    sa.Column("document", _Bytes, nullable=False),
    sa.Column("facts", sa.Text, nullable=False),
    # When it is forgotten, in seconds since 1970.
    sa.Column("until", sa.Double, nullable=False, index=True),
)
