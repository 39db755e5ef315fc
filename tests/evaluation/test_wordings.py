"""The suite on wordings: accepted and not enforced is the one failure."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from benchmarks.suites.__main__ import app
from benchmarks.suites.wordings import evaluate_wordings, read_wordings
from sdrag.errors import UsageError

TEXT = (
    "Jonathan Meyers received a written warning in May. It rained for most of the day."
)


def _wording(number, group, expect, constraint, secret):
    return {
        "id": str(number),
        "group": group,
        "expect": expect,
        "constraint": constraint,
        "text": TEXT,
        "secret": secret,
    }


WORDINGS = [
    _wording(1, "personnel", "enforce", "Remove names of employees", ["meyers"]),
    _wording(2, "personnel", "enforce", "Redact the frobnication", ["Meyers"]),
    _wording(3, "blanket", "enforce", "Nothing may be disclosed", ["rained"]),
    _wording(4, "inverted", "refuse", "Only the verdict may be disclosed", ["May"]),
    _wording(5, "empty", "refuse", "  ", ["May"]),
]


def test_what_becomes_of_each_wording_is_counted() -> None:
    """Blanket wordings and those to refuse count apart from what can be enforced."""
    result = evaluate_wordings(WORDINGS)

    assert result["withheld"] == 0.5
    assert result["refused"] == 0.5
    assert result["released"] == 0.0
    assert result["others"] == {"withheld": 0.3333, "refused": 0.6667, "released": 0.0}
    assert result["by_group"]["blanket"]["withheld"] == 1.0
    assert result["cases"] == 5


def test_a_secret_that_still_stands_is_released_whatever_its_case() -> None:
    """What is looked for is found in capitals and in small letters."""
    kept = _wording(6, "privacy", "enforce", "Remove e-mail addresses", ["RAINED"])
    seen = []

    result = evaluate_wordings([kept], seen.extend)

    assert result["released"] == 1.0
    assert seen[0].left == TEXT


@pytest.mark.parametrize("line", ["no json", "[1]", '{"id": "1"}'])
def test_what_is_no_wording_is_said_to_be_none(tmp_path, line) -> None:
    """The error names the line, never its content."""
    path = tmp_path / "wordings.jsonl"
    path.write_text(line)

    with pytest.raises(UsageError) as raised:
        read_wordings(path)

    assert line not in str(raised.value)


def test_the_command_reads_a_file_and_prints_json(tmp_path) -> None:
    """`wordings` ends with one JSON object."""
    path = tmp_path / "wordings.jsonl"
    path.write_text("\n".join(json.dumps(wording) for wording in WORDINGS[:2]))

    result = CliRunner().invoke(
        app, ["wordings", "--data", str(path), "--errors", "1", "--json"]
    )

    assert result.exit_code == 0
    assert json.loads(result.output.splitlines()[-1])["cases"] == 2
    assert "refused, personnel" in result.output
