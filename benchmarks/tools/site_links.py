"""
What the site does with links that leave the folder `docs`; a hook of mkdocs.

The notebooks and some files of the project's root are pages of the site. A link to any
other file of the project becomes the path of that file, since the site does not show
source code.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from benchmarks.tools.site_notebooks import as_markdown

__all__ = ["PUBLISHED", "on_files", "on_page_markdown", "relinked", "text_of"]

ROOT = Path(__file__).parents[2]
PUBLISHED = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "SECURITY.md": "security/promises.md",
} | {
    f"examples/notebooks/{path.name}": f"notebooks/{path.stem}.md"
    for path in sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
}
"""Where a file that is not in `docs` is on the site."""

_LINK = re.compile(r"\[([^\[\]]*)\]\((?!\w+:)([^()#\s]+)(#[^()\s]*)?\)")
_FILE = re.compile(r"[\w./-]+\.md")
"""A label that is the name of a file; on the site it is the title of the page."""
_SOURCES = {page: source for source, page in PUBLISHED.items() if page != "index.md"}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in `docs`."""
    for page in _SOURCES:
        files.append(File.generated(config, page, content=text_of(page)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Mend the links of a page."""
    return relinked(markdown, page.file.src_uri)


def text_of(page: str) -> str:
    """Return the Markdown of a page of the site."""
    path = ROOT / _SOURCES.get(page, f"docs/{page}")
    text = path.read_text(encoding="utf-8")
    return as_markdown(text) if path.suffix == ".ipynb" else text


def title_of(page: str) -> str:
    """Return the heading of a page of the site."""
    return text_of(page).partition("# ")[2].partition("\n")[0]


def relinked(markdown: str, page: str) -> str:
    """
    Return a page whose links stay within the site.

    Args:
        markdown: The page.
        page: Its path on the site, such as `recipes/index.md`.
    """
    source = _SOURCES.get(page, f"docs/{page}")

    def mended(found: re.Match[str]) -> str:
        label, link, anchor = found[1], found[2], found[3] or ""
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
            return found[0]  # mkdocs says that it leads nowhere
        return f"`{target}`" if label in target else f"{label} (`{target}`)"

    return _LINK.sub(mended, markdown)
