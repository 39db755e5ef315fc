"""The suite on answers: a claim that was turned around and passes is the failure."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from typer.testing import CliRunner

from benchmarks.suites.__main__ import app
from benchmarks.suites.answers import AnswerRow, evaluate_answers, read_answers
from sdrag.errors import UsageError

SOURCE = "The harbour of Lorne was built in 1871 by the town council."
TRUE = AnswerRow("date", "aside", SOURCE, SOURCE, supported=True)
FALSE = AnswerRow("name", "aside", SOURCE, "Dragons guard the castle.", supported=False)


def test_the_shares_that_passed_are_counted() -> None:
    """Of the true and of the false claims, of all and by kind."""
    seen = []

    result = evaluate_answers([TRUE, FALSE], seen.extend)

    assert (result["false_passed"], result["true_passed"]) == (0.0, 1.0)
    assert result["by_kind"]["date"] == {"false_passed": 0.0, "true_passed": 1.0}
    assert result["with_contradictions"]["true_passed"] == 1.0
    assert result["pairs"] == 2
    assert [case.passed["grounding"] for case in seen] == [True, False]


def test_the_packaged_pairs_are_balanced() -> None:
    """Each kind has as many true claims as false ones, half of each set aside."""
    rows = read_answers()
    count = Counter((row.kind, row.part, row.supported) for row in rows)

    assert len(rows) >= 120
    assert len(set(count.values())) == 1
    assert len(count) == 4 * len({row.kind for row in rows})
    assert len(read_answers(part="aside")) * 2 == len(rows)


@pytest.mark.parametrize(
    "change",
    [{"claim": 7}, {"part": "other"}, {"supported": "yes"}, {"kind": None}],
)
def test_what_is_no_row_is_said_to_be_none(tmp_path, change) -> None:
    """The error names the line, never its content."""
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({**TRUE._asdict(), **change}))

    with pytest.raises(UsageError, match="Line 1") as raised:
        read_answers(path)

    assert "Lorne" not in str(raised.value)


def test_the_command_reads_a_part_and_prints_json(tmp_path) -> None:
    """`answers` ends with one JSON object."""
    path = tmp_path / "answers.jsonl"
    wrong = TRUE._replace(supported=False)
    rows = (TRUE, wrong, TRUE._replace(part="development"))
    path.write_text("\n".join(json.dumps(row._asdict()) for row in rows))
    options = ["--data", str(path), "--part", "aside", "--errors", "1", "--json"]

    result = CliRunner().invoke(app, ["answers", *options])

    assert result.exit_code == 0
    assert json.loads(result.output.splitlines()[-1])["pairs"] == 2
    assert "1 false, date" in result.output
