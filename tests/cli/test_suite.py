"""Every suite of `sdrag eval` is a gate for builds, and writes a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from sdrag.cli.app import app
from sdrag.cli.evaluate import evaluate
from sdrag.cli.suite import Figures, suite

FIGURES = {
    "privacy": 0.9333,
    "questions": 10,
    "kept": True,
    "by": {"kind": {"recall": 0.5}},
    "curve": [
        {"sensitivity": 0.5, "privacy": 0.8, "readable": 0.9, "<b>": 0.1},
        {"sensitivity": 1.0, "privacy": 0.93, "readable": 0.7, "<b>": 0.1},
    ],
    "<script>": "<script>alert(1)</script>",
}


@pytest.fixture
def measured() -> typer.Typer:
    made = typer.Typer()

    def measure(top_k: int = 4) -> Figures:
        assert top_k == 4
        return FIGURES

    made.command()(suite(measure))
    return made


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 0),
        (["--fail-under", "privacy=0.9"], 0),
        (["--fail-under", "privacy=.9333"], 0),
        (["--fail-under", "privacy=0.94"], 1),
        (["--fail-over", "questions=10"], 0),
        (["--fail-over", "questions=9"], 1),
        (["--fail-under", "by.kind.recall=0.5"], 0),
        (["--fail-under", "by.kind.recall=0.51"], 1),
        (["--fail-under", "privacy=0.9", "--fail-over", "privacy=0.91"], 1),
        (["--fail-under", "privacy=0.9", "--fail-under", "questions=11"], 1),
        (["--fail-under", "privac=0.9"], 2),
        (["--fail-under", "kept=0.5"], 2),
        (["--fail-under", "by=0.5"], 2),
        (["--fail-under", "privacy"], 2),
        (["--fail-under", "privacy=high"], 2),
        (["--html", "/nowhere/at/all.html"], 2),
    ],
)
def test_a_figure_out_of_bounds_ends_with_1(measured, arguments, status):
    """A bound that is none, or is of no figure, ends with 2."""
    ran = CliRunner().invoke(measured, arguments)

    ended = 2 if isinstance(ran.exception, ValueError) else ran.exit_code
    assert (ended if not _ours(ran.exception) else 2) == status


def _ours(error: BaseException | None) -> bool:
    return type(error).__name__ == "UsageError"


def test_every_figure_out_of_bounds_is_named(measured):
    """With its value and its bound."""
    bounds = ["--fail-under", "privacy=0.95", "--fail-over", "questions=9"]
    ran = CliRunner().invoke(measured, bounds)

    assert "privacy is 0.9333, under 0.95" in ran.output
    assert "questions is 10.0000, over 9" in ran.output


def test_a_figure_that_is_no_number_is_out_of_bounds():
    """Neither less nor more is said of it, so it never passes."""
    made = typer.Typer()
    made.command()(suite(lambda: {"auc": float("nan")}))

    for option in ("--fail-under", "--fail-over"):
        assert CliRunner().invoke(made, [option, "auc=0.5"]).exit_code == 1


def test_the_page_shows_the_figures_and_nothing_else_runs(measured, tmp_path):
    """Everything is escaped, and nothing comes from outside."""
    path = tmp_path / "page.html"
    assert CliRunner().invoke(measured, ["--html", str(path)]).exit_code == 0

    page = path.read_text()
    assert "0.9333" in page
    assert page.count("<circle") == 2
    assert "<script" not in page
    assert "<b>" not in page.replace('<div class="card"><b>', "")
    assert "http:" not in page


def test_every_suite_has_the_options():
    """So that none is forgotten."""
    suites = get_command(evaluate).commands

    assert len(suites) >= 13
    for name, command in suites.items():
        options = {option for param in command.params for option in param.opts}
        assert {"--fail-under", "--fail-over", "--html"} <= options, name


def test_a_suite_is_a_gate(tmp_path: Path):
    """The whole way, from the command line."""
    data = tmp_path / "pairs.jsonl"
    pair = {
        "claim": "The harbour is open.",
        "evidence": "The harbour is closed.",
        "gold_label": "REFUTES",
    }
    data.write_text(json.dumps(pair) + "\n")
    call = ["eval", "contradiction", "--data", str(data)]

    assert CliRunner().invoke(app, call).exit_code == 0
    gated = CliRunner().invoke(app, [*call, "--fail-under", "pairs=2"])
    assert gated.exit_code == 1
