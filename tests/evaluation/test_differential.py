"""Answers put side by side: what one shows of what the other withholds."""

from __future__ import annotations

import pytest

from benchmarks.suites.articles_check import load_articles
from benchmarks.suites.differential import Seen, evaluate_differential, probes

TEXT = "Ann paid Ben ten crowns."


@pytest.mark.parametrize(
    ("released", "given", "regained"),
    [
        pytest.param([TEXT, TEXT], set(), set(), id="all shown twice"),
        pytest.param(["[X] paid [X].", "[X] paid [X]."], set(), set(), id="alike"),
        pytest.param(
            ["Ann paid [X].", TEXT], {"ben", "ten", "crowns"}, {"ben", "ten", "crowns"}
        ),
        pytest.param([TEXT, "Ann paid [X]."], {"ben", "ten", "crowns"}, set()),
        pytest.param(
            ["Ann paid [X] ten crowns.", "[X] paid Ben ten crowns."],
            {"ann", "ben"},
            {"ben"},
            id="each shows the other's",
        ),
        pytest.param(["", TEXT], {"ann", "paid", "ben", "ten", "crowns"}, None),
    ],
)
def test_subtraction(released, given, regained):
    """The union without the intersection is given away; regained is in that order."""
    seen = Seen(TEXT, released)

    assert set(seen.given_away()) == given
    if regained is not None:
        assert set(seen.regained()) == regained


def test_placeholders_are_no_words_of_the_text():
    """What a redaction puts in is nothing that was given away."""
    seen = Seen(TEXT, ["[REDACTED] paid Ben ten crowns.", "someone paid Ben."])

    assert set(seen.given_away()) == {"ten", "crowns"}


def test_probes_are_the_same_every_time():
    article = load_articles()[0]

    assert probes(article) == probes(article)
    assert len(probes(article)) >= 32


def test_answers_cannot_be_subtracted():
    """
    What is withheld of a chunk does not depend on the question or its neighbours.

    Nothing that was withheld is shown later. What is located later is withheld later;
    once documents were located whole, every answer shows the same of a chunk.
    """
    pytest.importorskip("tokenizers")
    regimes = evaluate_differential(load_articles()[:1])["regimes"]

    for rows in regimes.values():
        assert {row["regained"] for row in rows.values()} == {0}
    assert regimes["unbound"]["32"]["given_away"] < 0.02
    assert {row["given_away"] for row in regimes["located"].values()} == {0}
