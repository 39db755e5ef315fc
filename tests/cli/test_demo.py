"""`sdrag demo`: what a newcomer sees first, and figures that are measured."""

from __future__ import annotations

import re
import sys
from functools import partial

import pytest
from typer.testing import CliRunner

import sdrag.cli.demo
from benchmarks.tools.before_after import PICTURE, picture
from sdrag.cli import main
from sdrag.cli.app import app
from sdrag.cli.demo import collection, command


@pytest.fixture(scope="module")
def printed() -> str:
    """The whole demo, with one article in place of eight."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "collect", partial(collection.collect, 1))
        ran = CliRunner().invoke(app, ["demo"], catch_exceptions=False)
    assert ran.exit_code == 0
    return ran.stdout


def panel(printed: str, title: str) -> str:
    _, _, after = printed.partition(f"─ {title} ─")
    _, _, after = after.partition("\n")
    body, _, _ = after.partition("╰")
    return " ".join(body.replace("│", " ").split())


def test_the_plain_retriever_leaks_what_the_policy_names(printed):
    """The three sentences of the policy stand above it."""
    before = panel(printed, "plain retriever")

    assert "Remove names of witnesses" in printed
    for leak in ("Jonathan Meyers", "12 May 1981", "+44 20 7946 0018"):
        assert leak in before


def test_the_same_places_are_hidden_after(printed):
    """And the rest of the passage can still be read."""
    after = panel(printed, "wrapped retriever")

    assert len(re.findall(r"\[[a-z-]+\]", after)) == 4
    for leak in ("Meyers", "1981", "7946"):
        assert leak not in after
    assert "stood at the gate" in after


def test_every_application_is_measured(printed):
    """Two frameworks, plain and wrapped, with an injection and without."""
    rows = [
        line.split("│")[1:4]
        for line in printed.splitlines()
        if line.startswith(("│ LangChain", "│ LlamaIndex"))
    ]

    assert len(rows) == 8
    assert len({tuple(cell.strip() for cell in row) for row in rows}) == 8


def test_the_picture_of_the_readme_is_what_the_demo_prints(printed):
    """Run `python benchmarks/tools/before_after.py` when this fails."""
    before, after = (
        panel(printed, "plain retriever"),
        panel(printed, "wrapped retriever"),
    )

    assert PICTURE.read_text(encoding="utf-8") == picture(before, after)


def test_what_is_missing_is_told_before_anything_is_shown(monkeypatch, capsys):
    """Also what only the second framework needs."""
    for name in ("in_langchain", "in_llamaindex"):
        monkeypatch.delitem(sys.modules, f"sdrag.cli.demo.{name}", raising=False)
        monkeypatch.delattr(sdrag.cli.demo, name, raising=False)
    monkeypatch.setitem(sys.modules, "llama_index.vector_stores.chroma", None)
    monkeypatch.setattr(sys, "argv", ["sdrag", "demo"])

    with pytest.raises(SystemExit) as ended:
        main()

    told = capsys.readouterr()
    assert ended.value.code == 2
    assert told.out == ""
    assert 'pip install "sdrag[demo]"' in told.err
