"""The codes of causes, and the page that explains them."""

from __future__ import annotations

import re
from pathlib import Path

from sdrag.explanation import FOUND_BY

PAGE = Path(__file__).parents[2] / "docs" / "preview.md"


def test_the_page_explains_every_code() -> None:
    """The table of the page has a row for each code, and no other."""
    rows = re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(FOUND_BY)
