"""
Writes `llms.txt` into the site: its pages, a line each, for models that read it.

A hook of mkdocs. The form is that of llmstxt.org: a heading, a summary, and lists of
links. The links are relative, since the site may be anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.tools.site_links import text_of, title_of

__all__ = ["listed", "on_post_build"]

_NO_PROSE = re.compile(
    r"^```.*?^```$|<!--.*?-->|^[#>|!:][^\n]*", re.MULTILINE | re.DOTALL
)
_SENTENCE = re.compile(r"(\S.*?[.!?])(?=\s|\Z)", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def on_post_build(config: Any, **_: Any) -> None:
    """Write the file."""
    text = listed(config["site_name"], config["site_description"], config["nav"])
    (Path(config["site_dir"]) / "llms.txt").write_text(text, encoding="utf-8")


def listed(name: str, description: str, nav: list[dict[str, Any]]) -> str:
    """Return the file for a navigation as mkdocs has it."""
    lines = [f"# {name}", "", f"> {description}"]
    for part in nav:
        ((title, below),) = part.items()
        lines += ["", f"## {title}", "", *map(_line, _pages(below))]
    return "\n".join([*lines, ""])


def _pages(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    else:
        for inner in node.values() if isinstance(node, dict) else node:
            yield from _pages(inner)


def _line(page: str) -> str:
    link = page.removesuffix(".md") + ".html"
    if link.endswith("README.html"):
        link = link.replace("README", "index")
    return f"- [{title_of(page)}]({link}): {_summary(text_of(page))}"


def _summary(text: str) -> str:
    """Return the first sentence of a page's prose."""
    _, _, below = text.partition("\n")
    found = _SENTENCE.search(_NO_PROSE.sub("", below))
    return (
        " ".join(_LINK.sub(r"\1", found[1]).split()).removeprefix("- ") if found else ""
    )
