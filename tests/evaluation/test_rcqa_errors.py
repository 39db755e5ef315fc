"""What answers gave away is listed, for a developer's eyes."""

from __future__ import annotations

from typer.testing import CliRunner

from benchmarks.suites.__main__ import app
from benchmarks.suites.json_files import DATA, load_articles
from benchmarks.suites.rcqa import RcqaSettings, evaluate_rcqa, given_away

ARTICLES = load_articles()[:1]


def _listed(defense) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = []
    evaluate_rcqa(
        ARTICLES,
        RcqaSettings(defense=defense),
        lambda answers: listed.extend(given_away(ARTICLES, answers)),
    )
    return listed


def test_without_a_defence_every_kind_of_constraint_is_broken() -> None:
    """Each witness word is listed once, with what its constraint asks for."""
    listed = _listed("none")
    words = [error["text"].lower() for error in listed]

    assert {error["kind"] for error in listed} == {
        "of names", "of types", "of what must be understood",
    }  # fmt: skip
    assert "stethoscope" in words
    assert len(words) == len(set(words))


def test_what_was_withheld_is_not_listed() -> None:
    """Nothing is given away where passages are withheld whole."""
    none, withheld = (
        {error["text"] for error in _listed(name)} for name in ("none", "withhold")
    )

    assert withheld < none


def test_the_suite_shows_so_many_of_each_kind() -> None:
    """`--errors` shows the words in their surroundings, and how many there are."""
    article = DATA / "articles" / "01-goldsmith-burglary.json"
    arguments = ["rcqa", "--defense", "none", "--data", str(article)]

    shown = CliRunner().invoke(app, [*arguments, "--errors", "2"]).output

    assert " of names\n" in shown
    assert 0 < shown.count("Remove names of witnesses: ") <= 2
    assert "privacy" in shown
