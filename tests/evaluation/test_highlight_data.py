"""The question sets of the paper, in the forms in which they are published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.suites.highlight import evaluate_highlighter, read_squad
from benchmarks.suites.highlight_data import read_questions
from sdrag.errors import UsageError
from sdrag.highlight.exchange import Settings
from sdrag.testing import Scripted

from .test_highlight_suite import everything, write

FERRY = "The ferry leaves the harbour at nine. It is painted green and white all over."
TRAM = "The tram leaves the depot at five. It is painted red, and has two carriages."
BREAD = "The bakery sells bread of rye and spelt. It is closed on every Monday."


def repliqa(document: str, topic: str, question: str, **answers: str) -> dict[str, str]:
    """Give a row as RepliQA has it."""
    return {
        "document_id": str(len(document)),
        "document_topic": topic,
        "document_path": "a/b.pdf",
        "document_extracted": document,
        "question_id": question[:4],
        "question": question,
        **answers,
    }


REPLIQA = [
    repliqa(
        FERRY,
        "Traffic",
        "When does the ferry leave?",
        answer="At nine in the morning.",
        long_answer="The ferry leaves the harbour at nine.",
    ),
    repliqa(
        FERRY,
        "Traffic",
        "Who steers it?",
        answer="The answer is not found in the document.",
        long_answer="NA",
    ),
    repliqa(TRAM, "Traffic", "When does it leave?", answer="At five.", long_answer=""),
    repliqa(BREAD, "Food", "What bread?", answer="Rye.", long_answer=BREAD[:40]),
]
MINI = [
    {"question": "When?", "answer": "At nine", "id": 0, "relevant_passage_ids": [7, 8]},
    {"question": "What?", "answer": "Rye", "id": 1, "relevant_passage_ids": "[9]"},
]
CORPUS = [
    {"passage": FERRY, "id": 7},
    {"passage": TRAM, "id": 8},
    {"text": BREAD, "id": "9"},
]
CHALLENGE = {
    "questions": [
        {
            "body": "When does the ferry leave?",
            "type": "factoid",
            "ideal_answer": ["It leaves at nine."],
            "exact_answer": [["nine"]],
            "documents": ["http://www.example.org/1"],
            "snippets": [{"text": FERRY}, {"text": FERRY}, {"text": TRAM}],
        },
        {"body": "What?", "ideal_answer": "Rye.", "snippets": [{"text": BREAD}]},
    ]
}


def stored(path: Path, content: Any) -> Path:
    """Write JSON, or its lines."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in content))
    else:
        path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("name", ["r.json", "r.jsonl"])
def test_repliqa(tmp_path: Path, name: str) -> None:
    """`long_answer` is the gold passage; what is not in the document has none."""
    first, second, third, fourth = read_questions(stored(tmp_path / name, REPLIQA))

    assert (first.context, first.gold) == (
        FERRY,
        "The ferry leaves the harbour at nine.",
    )
    assert first.answers == ("At nine in the morning.",)
    assert (second.answers, second.gold) == ((), "")
    assert third.gold == "At five."
    assert (first.hard, first.other) == (TRAM, BREAD)
    assert (fourth.hard, fourth.other in (FERRY, TRAM)) == (None, True)


def test_rag_mini_bioasq(tmp_path: Path) -> None:
    """The relevant passages are looked up in the corpus, by ids in either form."""
    corpus = stored(tmp_path / "corpus.jsonl", CORPUS)
    first, second = read_questions(stored(tmp_path / "qa.jsonl", MINI), corpus)

    assert first.context == first.gold == f"{FERRY}\n\n{TRAM}"
    assert (second.context, second.answers) == (BREAD, ("Rye",))
    assert (first.other, first.hard) == (BREAD, None)


def test_bioasq(tmp_path: Path) -> None:
    """The snippets are the gold passage, each once; the ideal answer is the answer."""
    first, second = read_questions(stored(tmp_path / "bioasq.json", CHALLENGE))

    assert first.gold == f"{FERRY}\n\n{TRAM}"
    assert (first.answers, second.answers) == (("It leaves at nine.",), ("Rye.",))


def test_squad_is_read_as_before(tmp_path: Path) -> None:
    """One reader for all forms gives of SQuAD what its own gives."""
    path = write(tmp_path)

    assert read_questions(path) == read_squad(path)


def test_it_is_measured(tmp_path: Path) -> None:
    """Questions that cannot be answered count for declining, and for nothing else."""
    data = read_questions(stored(tmp_path / "r.json", REPLIQA))
    found = evaluate_highlighter(data, Settings(everything), Scripted())

    assert found["questions"] == 4
    assert found["recall"] == 1.0
    assert 0 < found["answer_recall"] < 1
    assert found["declined"]["recall"] == 0.0


@pytest.mark.parametrize(
    "content",
    [[], [{}], {}, {"questions": [{}]}, [{"document_extracted": "x"}], [1], 7],
)
def test_another_form_is_an_error_without_content(
    tmp_path: Path, content: object
) -> None:
    """What is of no known form is said to be of none."""
    with pytest.raises(UsageError):
        read_questions(stored(tmp_path / "x.json", content))


@pytest.mark.parametrize("rows", [None, [], [{"id": 7, "passage": FERRY}]])
def test_passages_that_are_not_there(tmp_path: Path, rows: list[Any] | None) -> None:
    """A corpus that lacks what a question names is an error, not an empty passage."""
    corpus = None if rows is None else stored(tmp_path / "c.jsonl", rows)

    with pytest.raises(UsageError):
        read_questions(stored(tmp_path / "qa.jsonl", MINI), corpus)
