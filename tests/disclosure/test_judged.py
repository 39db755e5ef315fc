"""What could be a name, a birth or a secret goes where its place says so."""

from __future__ import annotations

from sdrag import explain

from ..support.tables import each_row, read_table

TABLES = read_table(__file__, "judged.toml")


@each_row("constraint, text, goes, stays", [row for t in TABLES.values() for row in t])
def test_the_place_decides(constraint, text, goes, stays) -> None:
    """Each text loses what is asked for and keeps what only looks like it."""
    released = explain(text, {"constraints": [constraint]}).released or ""

    assert [part for part in goes.split("|") if part and part in released] == []
    assert [part for part in stays.split("|") if part not in released] == []
