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
