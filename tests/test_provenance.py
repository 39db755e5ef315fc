"""Where every shipped file of data comes from is written in THIRD_PARTY_NOTICES.md."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOTICES = (ROOT / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^\| `([^`]+)` \|", NOTICES, re.MULTILINE)
PACKAGES = ("shared/sdrag", "langchain_sdrag", "llamaindex_sdrag")


def test_every_shipped_data_file_is_listed():
    """A word list or a set of weights that nobody can place is not shipped."""
    listed = {path for pattern in LISTED for path in ROOT.glob(pattern)}
    shipped = {
        path
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file()
        and path.suffix not in {".py", ".pyc"}
        and path.name != "py.typed"
    }

    assert sorted(map(str, shipped - listed)) == []


def test_every_listed_path_exists():
    """The table names no file that has moved or gone."""
    assert [pattern for pattern in LISTED if not any(ROOT.glob(pattern))] == []


def test_every_source_has_its_notice():
    """A link of the table leads to a heading of the file."""
    headings = {
        re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", NOTICES, re.MULTILINE)
    }
    linked = set(re.findall(r"\]\(#([^)]+)\)", NOTICES))

    assert linked <= headings


def test_every_row_names_its_source_and_licence():
    """No cell of the table is empty."""
    rows = [line for line in NOTICES.splitlines() if line.startswith("| `")]

    assert len(rows) == len(LISTED)
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 4, row
        assert all(cells), row
