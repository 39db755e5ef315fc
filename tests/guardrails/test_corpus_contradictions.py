"""Contradictions within a corpus: which pairs, by which reason, settled how."""

from __future__ import annotations

import json

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import TextNode
from typer.testing import CliRunner

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import UsageError
from sdrag.knowledge_base import scan_contradictions
from sdrag.studio.cli.app import app
from sdrag.vocabulary import Passage

from ..support.tables import each_row

OLD = "Parcels from Norwood are kept for 14 days."
NEW = "Parcels from Norwood are kept for 30 days."
DATED = {"contradictions": {"strategy": "recent"}}
RANKED = {"contradictions": {"strategy": "authoritative"}}
CRITICAL = {"contradictions": {"strategy": "recent", "critical_topics": ["post"]}}
ROWS = [
    # policy, metadata of the two, the texts, what is found
    ({}, {}, {}, (OLD, NEW), ("figures", None, "present")),
    (DATED, {"updated": "2024-01-01"}, {"updated": "2025-01-01"}, (OLD, NEW),
     ("figures", "right", "recent")),
    (DATED, {"updated": "2025-01-01"}, {}, (OLD, NEW), ("figures", None, "present")),
    (RANKED, {"authority": 2}, {"authority": 1}, (OLD, NEW),
     ("figures", "left", "authoritative")),
    (CRITICAL, {"topic": "post"}, {}, (OLD, NEW), ("figures", None, "critical")),
    ({"contradictions": {"strategy": "review"}}, {}, {}, (OLD, NEW),
     ("figures", None, "review")),
    ({"staleness": {}}, {"valid_until": "2020-01-01"}, {}, (OLD, NEW), None),
    ({}, {}, {}, ("Dogs may swim in Lake Ammer.", "Dogs may not swim in Lake Ammer."),
     ("negation", None, "present")),
    ({}, {}, {}, (f"Good morning. {OLD}", f"It rains.\n\n{NEW} Bring boots."),
     ("figures", None, "present")),
    ({}, {}, {}, (f"{OLD} {NEW}", "It rains."), None),
    ({}, {}, {}, (OLD, OLD), None),
    ({}, {}, {}, (OLD, "Are parcels from Norwood kept for 30 days?"), None),
    ({}, {}, {}, (OLD, "Parcels from Leyton are kept for 30 days."), None),
    ({}, {}, {}, ("It costs 5 pounds.", "It costs 9 pounds."), None),
]  # fmt: skip
FILLING = [
    Passage(f"filling-{number}", f"Parcels from {name} are kept in days of {name}.")
    for number, name in enumerate(map("Town{}".format, range(120)))
]


@each_row("policy, left, right, texts, expected", ROWS)
def test_pairs_of_a_corpus(policy, left, right, texts, expected):
    """Found by sentence among many of the same words, and settled by the policy."""
    given = [
        Passage(name, text, metadata)
        for name, text, metadata in zip(
            ("left", "right"), texts, (left, right), strict=True
        )
    ]

    found = scan_contradictions([given[0], *FILLING, given[1]], policy)

    listed = [(pair.reason, pair.winner, pair.resolution) for pair in found.pairs]
    assert listed == ([expected] if expected else [])
    for pair in found.pairs:
        assert pair.passage_ids == ("left", "right")
        stated = [span.of(text) for span, text in zip(pair.spans, texts, strict=True)]
        assert all(text.startswith(("Parcels", "Dogs")) for text in stated)


def test_rows_of_a_list_are_counted_only():
    """A sentence that opposes many others is a form; each copy is named once."""
    log = [
        Passage(str(day), f"The pump of tank Alma ran for {day} hours.")
        for day in range(1, 9)
    ]
    copies = [Passage(*row) for row in (("a", OLD), ("b", OLD), ("c", NEW), ("d", NEW))]

    assert scan_contradictions(log).pairs == ()
    assert scan_contradictions(log).repeated == 28
    named = [pair.passage_ids for pair in scan_contradictions(copies).pairs]
    assert named == [("a", "c"), ("b", "c"), ("a", "d")]


def test_the_command_and_the_scanner_list_pairs(tmp_path):
    """By id, and without a word unless they are asked to quote."""
    chunks, report = tmp_path / "chunks.jsonl", tmp_path / "pairs.jsonl"
    policy = tmp_path / "policy.yaml"
    policy.write_text(json.dumps(DATED))
    rows = [
        {"id": "a", "text": OLD, "metadata": {"updated": "2024-01-01"}},
        {"id": "b", "text": NEW, "metadata": {"updated": "2025-01-01"}},
        {"id": "c", "text": "The pier is green.", "metadata": {}},
    ]
    chunks.write_text("\n".join(map(json.dumps, rows)))
    scan = ["scan", "--contradictions", "--policy", str(policy), str(chunks)]

    shown = CliRunner().invoke(app, [*scan, "--json", "--report", str(report)])
    (pair,) = map(json.loads, report.read_text().splitlines())
    counts = json.loads(shown.stdout.splitlines()[-1])

    assert shown.exit_code == 1
    assert (counts["contradictions"], counts["passages"]) == (1, 2)
    assert pair["winner"].endswith("b")
    assert (pair["reason"], pair["resolution"]) == ("figures", "recent")
    assert "Norwood" not in shown.stdout + report.read_text()
    assert OLD in CliRunner().invoke(app, [*scan, "--quote"]).stdout
    both = CliRunner().invoke(app, [*scan, "--classifier"])
    assert isinstance(both.exception, UsageError)

    nodes = [TextNode(id_=row["id"], text=row["text"]) for row in rows]
    documents = [Document(row["text"], id=row["id"]) for row in rows]
    for scanner, corpus in (
        (langchain_sdrag.InjectionScanner(policy=DATED), documents),
        (llamaindex_sdrag.InjectionScanner(policy=DATED), nodes),
    ):
        (found,) = scanner.find_contradictions(corpus).pairs
        assert found.passage_ids == ("a", "b")
    with pytest.raises(UsageError, match="no id"):
        langchain_sdrag.InjectionScanner(policy={}).find_contradictions([Document(OLD)])
