"""`sdrag tune`: what each setting of masking costs, where links are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from sdrag.errors import UsageError
from sdrag.policy import LinkageSection
from sdrag.studio.cli.app import app
from sdrag.studio.evaluation.tuning import tune
from sdrag.vocabulary import Passage

TEXTS = {
    "a.txt": "Mr. Ivo Krastev called about claim KX-20-4417.",
    "b.txt": "The claim KX 20 4417 is of Mr. Krastev.",
    "c.txt": "Ms. Nadia Orlova lives at 14 Quay Street, Hull.",
    "d.txt": "A parcel for Nadia Orlova went to 14 Quay Street, Hull.",
    "e.txt": "The quay opens at six.",
}
LINKS = "a.txt,b.txt\nc.txt,d.txt\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five documents, two pairs of which are linked."""
    sample = tmp_path / "sample"
    sample.mkdir()
    for name, text in TEXTS.items():
        (sample / name).write_text(text)
    (sample / "links.csv").write_text(LINKS)
    return sample


def call(*arguments: object) -> tuple[str, dict[str, Any]]:
    """Tune; return what is printed, and the JSON object."""
    given = ["tune", *map(str, arguments), "--json"]
    result = CliRunner().invoke(app, given, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    figures: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return result.stdout, figures


def test_it_says_what_each_setting_costs(folder: Path, tmp_path: Path) -> None:
    """Links that are found, and what ceilings mask and leave; a table, JSON, a plot."""
    printed, figures = call(folder, "--plot", tmp_path / "tune.svg")

    links = {row["edge_threshold"]: row for row in figures["links"]}
    assert figures["documents"] == len(TEXTS)
    assert figures["best"]["f1"] == links[figures["best"]["edge_threshold"]]["f1"] == 1
    assert figures["best"]["known"] == 2
    assert links[0.95]["recall"] <= links[0.5]["recall"] <= links[0.05]["recall"]
    strict, lax = figures["ceilings"][0], figures["ceilings"][-1]
    assert strict["masked_text"] >= lax["masked_text"]
    assert strict["known_left"] <= lax["known_left"]
    heads = ["edge_threshold", "known", "others", "precision", "recall", "f1"]
    assert printed.splitlines()[1].split() == heads
    ET.fromstring((tmp_path / "tune.svg").read_text())  # noqa: S314 -- its own


def test_it_prints_no_text(folder: Path, tmp_path: Path) -> None:
    """Neither what was found nor what the documents are called."""
    printed, _ = call(folder, "--plot", tmp_path / "tune.svg")

    drawn = (tmp_path / "tune.svg").read_text()
    for words in ("Krastev", "Orlova", "4417", "a.txt"):
        assert words not in printed + drawn


@pytest.mark.parametrize(
    "links", ["a.txt", "a.txt,z.txt\n", "a.txt,a.txt", "a.txt,b.txt,c.txt", None]
)
def test_links_that_cannot_be_read_are_refused(folder: Path, links: str | None) -> None:
    """A missing file, and a line that names no two of the documents."""
    (folder / "links.csv").unlink()
    if links is not None:
        (folder / "links.csv").write_text(links)

    with pytest.raises(UsageError, match=r"links\.csv"):
        CliRunner().invoke(app, ["tune", str(folder)], catch_exceptions=False)


def test_what_is_in_force_is_tried_too() -> None:
    """Whatever it is; and the sample is masked by no key and in no style."""
    documents = [Passage(name, text) for name, text in TEXTS.items()]
    rows = [[["Krastev", "", "NAME", 1.0]]] * 2 + [[]] * 3
    settings = LinkageSection(
        edge_threshold=0.33, max_chain_risk=0.44, replace="pseudonym"
    )

    tuned = tune(documents, [frozenset(("a.txt", "b.txt"))], settings, rows)

    assert 0.33 in {row.edge_threshold for row in tuned.links}
    assert 0.44 in {row.max_chain_risk for row in tuned.ceilings}
    assert (tuned.best.f1, tuned.best.others) == (1.0, 0)
