"""The documentation site builds without a warning, and asks nothing of other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from benchmarks.tools.reference import PACKAGES

ROOT = Path(__file__).parents[1]
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href")}
LOADED |= {
    ("source", "srcset"),
    ("img", "srcset"),
    ("video", "src"),
    ("object", "data"),
}


class Page(HTMLParser):
    """What a page loads, what it links to, and the ids in it."""

    def __init__(self, path):
        super().__init__()
        self.loaded, self.links, self.ids = set(), set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.add(given.get("id"))
        self.loaded |= {value for name, value in attrs if (tag, name) in LOADED}
        if tag == "a" and given.get("href"):
            self.links.add(given["href"])


def build(root, folder):
    """Build the site of a project; `--quiet` would hide warnings from `--strict`."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(
        [*command, "--site-dir", os.fspath(folder)],
        check=False,
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT, folder)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder


@pytest.fixture(scope="module")
def built_pages(site):
    return {path: Page(path) for path in site.rglob("*.html")}


def test_nothing_is_loaded_from_another_host(site, built_pages):
    """Neither by a page nor by a style sheet; a link that is clicked may lead out."""
    for path, page in built_pages.items():
        assert not [one for one in page.loaded if urlsplit(one or "").netloc], path
    for path in site.rglob("*.css"):
        styles = path.read_text(encoding="utf-8")
        assert not re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", styles), path


def test_every_link_inside_the_site_leads_somewhere(built_pages):
    """Also to the heading that it names."""
    for path, page in built_pages.items():
        if path.name == "404.html":  # it is shown at any depth, so its links begin at /
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            target = target.resolve()
            assert target.exists(), (path.name, link)
            if parts.fragment and target in built_pages:
                ids = built_pages[target].ids
                assert unquote(parts.fragment) in ids, (path.name, link)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_its_entry(package, site):
    """The object was found, and the page has a heading to link to."""
    ids = Page(site / "reference" / "api.html").ids
    module = import_module(package)

    missing = [
        name
        for name in module.__all__
        if f"{getattr(module, name).__module__}.{name}" not in ids
    ]
    assert not missing


def test_llms_txt_lists_every_page(site, built_pages):
    """Each with its title, a link that leads there, and its first sentence."""
    text = (site / "llms.txt").read_text(encoding="utf-8")
    lines = re.findall(r"^- \[(.+?)\]\((.+?)\): (.*)$", text, re.MULTILINE)

    shown = {site / link for _, link, _ in lines}
    assert shown == {path for path in built_pages if path.name != "404.html"}
    assert all(title and said for title, _, said in lines)
