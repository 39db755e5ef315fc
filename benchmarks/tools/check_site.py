"""
The documentation site: it builds without a warning, and asks nothing of other hosts.

    python benchmarks/tools/check_site.py

Each thing that is wrong is printed, and ends the program with 1.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

from reference import PACKAGES

ROOT = Path(__file__).parents[2]
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href")}
LOADED |= {("source", "srcset"), ("img", "srcset"), ("video", "src")}
LOADED |= {("object", "data")}


class Page(HTMLParser):
    """What a page loads, what it links to, and the ids in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: set[str] = set()
        self.links: set[str] = set()
        self.ids: set[str | None] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag says."""
        given = dict(attrs)
        self.ids.add(given.get("id"))
        self.loaded |= {value or "" for name, value in attrs if (tag, name) in LOADED}
        if tag == "a" and given.get("href"):
            self.links.add(given["href"] or "")


def build(folder: Path) -> str:
    """Build the site; return its warnings. `--quiet` would hide them."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    built = subprocess.run(  # noqa: S603 -- our own command
        [*command, "--site-dir", os.fspath(folder)],
        check=False,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    return built.stderr if built.returncode or "WARNING" in built.stderr else ""


def loaded_from_others(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield what a page or a style sheet loads; a link that is clicked may lead out."""
    for path, page in pages.items():
        yield from (
            f"{path} loads {one}" for one in page.loaded if urlsplit(one).netloc
        )
    for path in site.rglob("*.css"):
        styles = path.read_text(encoding="utf-8")
        if re.search(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", styles):
            yield f"{path} loads from another host"


def broken_links(pages: dict[Path, Page]) -> Iterator[str]:
    """Yield each link inside the site that leads nowhere, or to no heading."""
    for path, page in pages.items():
        if path.name == "404.html":  # it is shown at any depth, so its links begin at /
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            there = pages.get(target.resolve())
            heading = unquote(parts.fragment)
            if not target.exists() or (heading and there and heading not in there.ids):
                yield f"{path} links to {link}"


def without_entry(site: Path) -> Iterator[str]:
    """Yield each public name that has no heading to link to."""
    ids = Page(site / "reference" / "api.html").ids
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            if f"{getattr(module, name).__module__}.{name}" not in ids:
                yield f"{package}.{name} has no entry in the reference"


def not_listed(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield each page that `llms.txt` does not list with its first sentence."""
    text = (site / "llms.txt").read_text(encoding="utf-8")
    lines = re.findall(r"^- \[.+?\]\((.+?)\): .+$", text, re.MULTILINE)
    listed, shown = {site / link for link in lines}, {*pages} - {site / "404.html"}
    yield from (f"llms.txt: {path}" for path in listed ^ shown)


def main() -> None:
    """Print what is wrong."""
    with tempfile.TemporaryDirectory() as name:
        site = Path(name).resolve()
        wrong = [build(site)]
        pages = {path: Page(path) for path in site.rglob("*.html")}
        wrong += [*loaded_from_others(site, pages), *broken_links(pages)]
        wrong += [*without_entry(site), *not_listed(site, pages)]
    wrong = [each for each in wrong if each]
    print("\n".join(wrong) or f"The site has {len(pages)} pages.")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
