"""A figure is the same in each of its usual short forms, and another one is not."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document

from langchain_sdrag import AnswerGuard

ROWS = [
    (
        "Revenue in the third quarter was USD 890 million.",
        "Revenue in the third quarter was {}.",
        (
            "$890M|$890m|$890mn|US$890m|$890,000,000|USD 890MM|890M dollars|$0.89bn"
            "|$0.89B|0.89 billion dollars|$890 mln|$ 890 M|USD890M"
        ),
        "$809M|$890K|EUR 890 million|$89M|$890B|$8.9M",
    ),
    (
        "The club has 1,200 members.",
        "The club has {} members.",
        "1.2k|1200|1,200|1.2K|1.2 thousand|twelve hundred",
        "1.2M|12k|1,020|2.1k",
    ),
    (
        "About 45 percent of the boats leak.",
        "About {} of the boats leak.",
        "45 %|45%|45 per cent|45 pct|forty-five percent",
        "54 %|45 points|4.5 %",
    ),
    (
        "The tank holds 2.5 million litres.",
        "The tank holds {} litres.",
        "2.5M|2,500,000|2.5m|2.5 mn|2.5 million",
        "2.5k|25M|2.5bn",
    ),
    (
        "The fund lost 3 billion euros in May.",
        "The fund lost {} in May.",
        "€3bn|3bn euros|EUR 3B|€3,000m|3,000 million euros|€ 3 bln",
        "€3m|$3bn|€30bn",
    ),
    (
        "The road is 12 km long.",
        "The road is {} long.",
        "12km|12,000 m|12000 metres",
        "12 m|12 miles|1,200 m",
    ),
    ("Each pill holds 0.5 g.", "Each pill holds {}.", "500 mg|0.5 grams", "50 mg|5 g"),
    ("The talk takes two hours.", "The talk takes {}.", "120 minutes", "2 minutes"),
    (
        "The boat left at 18:05 on Tuesday, 3 May 1911, for twenty-one days.",
        "The boat left {}.",
        "on May 3rd|on 3 May 1911|at 18:05|on a Tuesday|for 21 days",
        "on May 4th|on 3 May 1912|at 18:50|on a Monday|for 12 days",
    ),
    ("It is 180 \u00b0C hot.", "It is {} hot.", "180 degrees Celsius", "108 \u00b0C"),
    ("The trench is 2.3 m deep.", "The trench is {} deep.", "230 cm", "23 cm|230 m"),
]


@pytest.mark.parametrize(("source", "answer", "right", "wrong"), ROWS)
def test_short_forms_of_figures_are_read(source, answer, right, wrong):
    """`$890M` is `USD 890 million`, and `$890K` is not."""
    guard = AnswerGuard(policy={"grounding": {}}, return_report=True)

    def check(figure):
        given = {"question": "What?", "answer": answer.format(figure)}
        return guard.invoke({**given, "context": [Document(source)]})["status"]

    assert {figure: check(figure) for figure in right.split("|")} == dict.fromkeys(
        right.split("|"), "checked"
    )
    assert "checked" not in map(check, wrong.split("|"))
