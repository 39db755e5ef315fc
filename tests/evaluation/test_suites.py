"""The suites, as somebody types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.suites.__main__ import app
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


def test_every_suite_is_listed() -> None:
    """`--help` names every suite."""
    suites = """answers contradiction control entities grounding highlight
    injection linkage ranking rcqa wordings"""

    assert set(suites.split()) <= set(typed("--help").split())


def test_rcqa_ends_with_one_json_object(articles: Path) -> None:
    """The last line holds every figure of the contract."""
    output = typed("rcqa", "--data", str(articles), "--json")

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
    output = typed("rcqa", "--data", str(articles), "--defense", defense, "--json")

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
        ["rcqa", "--data", str(articles), *arguments],
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

    output = typed("entities", "--data", str(path), "--engine", engine, "--json")

    assert json.loads(output.splitlines()[-1])["recall_token"] == recall
