"""A notebook as a page of the site: its cells in order, each with its output."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["as_markdown"]


def as_markdown(notebook: str) -> str:
    """
    Return a notebook as Markdown.

    Args:
        notebook: The file's text: JSON of the format nbformat 4.
    """
    cells = json.loads(notebook)["cells"]
    return "\n\n".join(part for cell in cells for part in _parts(cell)) + "\n"


def _parts(cell: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a cell: prose, or code and what it printed."""
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        yield source
        return
    yield _fenced("python", source)
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "text/html" in data:
            yield f'<div class="output">{_in_one_block(data["text/html"])}</div>'
        elif text := "".join(output.get("text", data.get("text/plain", ""))):
            yield _fenced("text", text)


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def _in_one_block(html: str | list[str]) -> str:
    """Return HTML without empty lines, which would end the block in Markdown."""
    lines = "".join(html).splitlines()
    return "\n".join(line for line in lines if line.strip())
