"""
Hooks of mkdocs: links that leave `docs`, and `llms.txt`.

A link to a file of the project that is not in `docs` becomes the path of that file,
since the site does not show source code. `llms.txt` lists the pages for models, in the
form of llmstxt.org: a heading, a summary, and lists of links, which are relative.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PUBLISHED = {"README.md": "index.md"}
"""The page of the site that takes the place of a file outside `docs`."""

_FILE_LINK = re.compile(r"\[([^\[\]]*)\]\((?!\w+:)([^()#\s]+)(#[^()\s]*)?\)")
_NO_PROSE = re.compile(
    r"^```.*?^```$|<!--.*?-->|^[#>|!:][^\n]*", re.MULTILINE | re.DOTALL
)
_SENTENCE = re.compile(r"(\S.*?[.!?])(?=\s|\Z)", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_FILE = re.compile(r"[\w./-]+\.md")
"""A label that is the name of a file; on the site it is the title of the page."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Mend the links of a page."""
    return relinked(markdown, page.file.src_uri)


def text_of(page: str) -> str:
    """Return the Markdown of a page of the site."""
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def title_of(page: str) -> str:
    """Return the heading of a page of the site."""
    return text_of(page).partition("# ")[2].partition("\n")[0]


def relinked(markdown: str, page: str) -> str:
    """
    Return a page whose links stay within the site.

    Args:
        markdown: The page.
        page: Its path on the site, such as `guides/ingest.md`.
    """
    source = f"docs/{page}"

    def mended(match: re.Match[str]) -> str:
        label, link, anchor = match[1], match[2], match[3] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        inside = PUBLISHED.get(target)
        if inside is None and target.startswith("docs/"):
            inside = target.removeprefix("docs/")
        if inside is not None:
            here = posixpath.dirname(page) or "."
            if _FILE.fullmatch(label) and inside.endswith(".md"):
                label = title_of(inside)
            return f"[{label}]({posixpath.relpath(inside, here)}{anchor})"
        if not (ROOT / target).exists():
            return match[0]  # mkdocs says that it leads nowhere
        return f"`{target}`" if label in target else f"{label} (`{target}`)"

    return _FILE_LINK.sub(mended, markdown)


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
    return f"- [{title_of(page)}]({link}): {_summary(text_of(page))}"


def _summary(text: str) -> str:
    """Return the first sentence of a page's prose."""
    _, _, below = text.partition("\n")
    sentence = _SENTENCE.search(_NO_PROSE.sub("", below))
    if sentence is None:
        return ""
    return " ".join(_LINK.sub(r"\1", sentence[1]).split()).removeprefix("- ")
