"""The recipe of a web service shows the example's own code."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"<!-- not run: from (\S+) -->\n```python\n(.*?)```", re.DOTALL)


def test_the_recipe_shows_the_example():
    """Each block is a part of the file that it names, as it is written there."""
    recipe = (ROOT / "docs" / "guides" / "web-service.md").read_text(encoding="utf-8")
    blocks = _BLOCK.findall(recipe)

    assert len(blocks) == 3
    for path, block in blocks:
        code = (ROOT / path).read_text(encoding="utf-8")
        nested = indent(block, "    ", lambda line: bool(line.strip()))
        assert block in code or nested in code
