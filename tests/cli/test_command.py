"""The `sdrag` command, as somebody types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sdrag.cli.app import app
from sdrag.errors import SdragError

ARTICLE: dict[str, Any] = {
    "category": "criminal",
    "article_text": (
        "The witness, Jonathan Meyers, saw a grey van at dawn. Meyers wrote down its "
        "plate. The van was found in the harbour by a fisherman. Nobody was hurt."
    ),
    "constraint_to_witness_words": {
        "Remove names of witnesses": ["Jonathan", "Meyers"]
    },
    "questions": [
        {
            "question_text": "What was seen at dawn?",
            "answer_text": "A grey van was seen at dawn.",
            "relevant_constraints": ["Remove names of witnesses"],
        }
    ],
}


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    path = tmp_path / "articles.json"
    path.write_text(json.dumps([ARTICLE]))
    return path


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


def test_every_suite_is_listed() -> None:
    """`sdrag eval --help` names every suite of the contract."""
    suites = """answers contradiction control differential entities eviction grounding
    highlight injection linkage ranking rcqa retrieval-oracle wordings"""

    assert set(suites.split()) <= set(typed("eval", "--help").split())


def test_rcqa_ends_with_one_json_object(articles: Path) -> None:
    """The last line holds every figure of the contract."""
    output = typed("eval", "rcqa", "--data", str(articles), "--json")

    figures = json.loads(output.splitlines()[-1])
    assert {
        "privacy",
        "privacy_all",
        "privacy_cumulative",
        "completeness",
        "over_redacted",
        "questions",
        "model_calls",
        "seconds",
    } <= figures.keys()
    assert figures["privacy"] == 1.0
    assert figures["questions"] == 1


@pytest.mark.parametrize("defense", ["none", "prompt"])
def test_the_verbatim_generator_leaks_without_redaction(
    articles: Path, defense: str
) -> None:
    """What is given raw counts as leaked, whatever the prompt asks."""
    output = typed(
        "eval", "rcqa", "--data", str(articles), "--defense", defense, "--json"
    )

    assert json.loads(output.splitlines()[-1])["privacy"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (("--defense", "prayer"), "redact"),
        (("--attack", "everything"), "repeat"),
        (("--scope", "world"), "corpus"),
        (("--locate", "never"), "ingest"),
        (("--engine", "magic"), "langchain:PROVIDER:MODEL"),
    ],
)
def test_an_unknown_choice_is_refused(
    articles: Path, arguments: tuple[str, str], known: str
) -> None:
    """The error names the option, and says what it takes."""
    result = CliRunner().invoke(
        app,
        ["eval", "rcqa", "--data", str(articles), *arguments],
        env={"COLUMNS": "200"},
    )

    known_error = isinstance(result.exception, SdragError)
    assert known_error or result.exit_code == 2
    said = str(result.exception) if known_error else result.output
    assert arguments[0] in said
    assert known in said


@pytest.mark.parametrize(("engine", "recall"), [("rules", 0.0), ("local", 1.0)])
def test_entities_measures_the_engine_that_is_asked_for(
    tmp_path: Path, engine: str, recall: float
) -> None:
    """By default all that is installed; the rules alone do not know this farm."""
    text = "The applicant ran a mushroom farm with his two brothers."
    start = text.index("mushroom")
    gold = {
        "start_offset": start,
        "end_offset": start + len("mushroom farm"),
        "identifier_type": "QUASI",
        "entity_id": "1",
    }
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({"text": text, "entities": [gold]}))

    output = typed(
        "eval", "entities", "--data", str(path), "--engine", engine, "--json"
    )

    assert json.loads(output.splitlines()[-1])["recall_token"] == recall
