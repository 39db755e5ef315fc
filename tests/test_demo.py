"""`make demo`: what a newcomer sees first, and figures that are measured."""

from __future__ import annotations

import re
from functools import partial

import pytest
import typer
from typer.testing import CliRunner

from examples.demo import __main__ as command
from examples.demo import collection


@pytest.fixture(scope="module")
def printed() -> str:
    """The whole demo, with one article in place of eight."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "collect", partial(collection.collect, 1))
        app = typer.Typer()
        app.command()(command.demo)
        ran = CliRunner().invoke(app, [], catch_exceptions=False)
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


def test_it_ends_with_all_four_systems(printed):
    """What was masked, released, highlighted and answered, of one letter."""
    shown = panel(printed, "all four systems in one graph")

    for stage in ("masked:", "released:", "highlighted:", "answered:"):
        assert stage in shown
    assert "harbour opens at six. (checked)" in shown


def test_every_application_is_measured(printed):
    """Two frameworks, plain and wrapped, with an injection and without."""
    rows = [
        line.split("│")[1:4]
        for line in printed.splitlines()
        if line.startswith(("│ LangChain", "│ LlamaIndex"))
    ]

    assert len(rows) == 8
    assert len({tuple(cell.strip() for cell in row) for row in rows}) == 8
