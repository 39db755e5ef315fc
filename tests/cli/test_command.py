"""The `sdrag` command, as somebody types it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sdrag.cli.app import app


def typed(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_check_says_what_a_policy_will_do(tmp_path: Path) -> None:
    """Ids, methods and guards are printed; the constraints' words are not."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "constraints:\n  - Remove names of witnesses\n"
        "  - {id: doses, text: Hide doses, method: withhold, always: true}\n"
        "access: {}\n"
    )

    output = typed("check", str(policy))

    assert "doses: withhold always" in output
    assert "guards: access" in output
    assert "witnesses" not in output


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("constraints: []\ndisclosur: {}\n", 2, "disclosur"),
        ("constraints:\n  - {id: a}\n", 2, "constraints.0.text"),
        ("disclosure:\n  bind_top_n: 0\n", 2, "disclosure.bind_top_n"),
        ("constraints: [", None, ""),
    ],
)
def test_a_broken_policy_is_one_line(
    tmp_path: Path, text: str, line: int | None, key: str
) -> None:
    """The error names the line and the key, and the command ends with status 2."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(text)

    outcome = subprocess.run(
        [sys.executable, "-c", "from sdrag.cli import main; main()", "check", policy],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert outcome.returncode == 2
    assert outcome.stderr.count("\n") == 1
    assert key in outcome.stderr
    assert line is None or f"line {line}" in outcome.stderr
