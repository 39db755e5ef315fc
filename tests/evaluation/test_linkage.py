"""`linkage`, the packaged clusters, and `sdrag mask`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.suites.__main__ import app as suites
from benchmarks.suites.json_files import DATA
from benchmarks.suites.linkage import evaluate_linkage, leak_rate
from benchmarks.suites.linkage_clusters import (
    packaged_clusters,
    read_clusters,
)
from sdrag.cli.app import app
from sdrag.detectors.local import LocalDetector
from sdrag.errors import UsageError
from sdrag.linkage import checkpoint, mask_corpus, placement
from sdrag.linkage.document_files import document_id, read_documents
from sdrag.linkage.entity_schema import WEIGHTS
from sdrag.policy import LinkageSection, ResolutionSection
from sdrag.reports.linkage_report import render_linkage
from sdrag.vocabulary import Decision

FOLDER = DATA / "clusters"


def test_the_packaged_clusters_are_valid() -> None:
    """Ten and more, each with its links."""
    names = sorted(FOLDER.glob("*.json"))
    assert len(names) >= 10
    assert all(cluster.linked_pairs is not None for cluster in packaged_clusters())


def test_links_are_found_across_surface_forms() -> None:
    """Resolved, F1 is over 0.75; by verbatim forms hardly a link is seen."""
    off = dict.fromkeys(("names", "dates", "numbers"), False)
    verbatim = ResolutionSection(**off, spelling=False, meaning=False, terms=False)
    resolved = evaluate_linkage(packaged_clusters(), LinkageSection())
    literal = evaluate_linkage(packaged_clusters(), LinkageSection(resolution=verbatim))
    assert resolved["links"]["f1"] >= 0.75
    assert literal["links"]["f1"] < 0.5


def test_masking_lowers_leakage_and_links() -> None:
    """The full pipeline against documents alone."""
    found = {
        select: evaluate_linkage(packaged_clusters(), LinkageSection(select=select))
        for select in ("document", "knapsack")
    }
    assert (
        found["knapsack"]["leak_rate"]["HIGH"] < found["document"]["leak_rate"]["HIGH"]
    )
    assert found["knapsack"]["leaked_clusters"] < found["document"]["leaked_clusters"]
    links = found["knapsack"]["attacker"]
    assert links["links_after"] < links["links_before"] / 4
    assert found["knapsack"]["answers_kept"]["general"]["single"] == 1.0


class TestCommands:
    """The command line."""

    def test_eval_prints_one_json_object(self) -> None:
        """The last line holds at least what the contract names."""
        arguments = ["linkage", "--data", str(FOLDER), "--json"]
        result = CliRunner().invoke(suites, [*arguments, "--select", "greedy"])
        assert result.exit_code == 0, result.output
        found = json.loads(result.output.splitlines()[-1])
        assert {"precision", "recall", "f1"} <= found["links"].keys()
        names = {"leak_rate", "leaked_clusters", "masked_entities", "answers_kept"}
        assert names <= found.keys()
        assert set(found["answers_kept"]) == {"specific", "general"}

    @pytest.mark.parametrize(
        ("options", "masked"),
        [([], "document"), (["--select", "knapsack"], "knapsack")],
    )
    def test_eval_asks_the_policy_first(
        self, tmp_path: Path, options: list[str], masked: str
    ) -> None:
        """What the policy says holds, unless an option says something else."""
        policy = tmp_path / "policy.yaml"
        policy.write_text("linkage: {select: document, chain_length: 3}", "utf-8")
        arguments = ["linkage", "--policy", str(policy), "--json", *options]
        result = CliRunner().invoke(suites, arguments)
        assert result.exit_code == 0, result.output
        section = LinkageSection.model_validate({"select": masked, "chain_length": 3})
        expected = evaluate_linkage(packaged_clusters(), section)["masked_entities"]
        found = json.loads(result.output.splitlines()[-1])
        assert found["masked_entities"] == expected

    def test_mask_writes_and_reports(self, tmp_path: Path) -> None:
        """Documents in the schema they came in, a report, and no file left over."""
        out, report = tmp_path / "out.jsonl", tmp_path / "report.html"
        arguments = ["mask", str(FOLDER), str(out), "--report", str(report), "--given"]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        assert len(rows) == 43
        assert {"id", "content", "metadata"} == set(rows[0])
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "out.jsonl",
            "report.html",
        ]

    def test_mask_detects_and_resumes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A run that was interrupted leaves offsets, no text, and is taken up."""
        source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        progress = tmp_path / "out.jsonl.progress"
        texts = [f"Mr. Ivo Krastev called {n} times." for n in range(3)]
        rows = [{"id": f"d{n}", "content": text} for n, text in enumerate(texts)]
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        detect, detected = LocalDetector.detect, []

        def interrupted(self: LocalDetector, batch: Sequence[str]) -> Any:
            if len(detected) == 2:
                raise KeyboardInterrupt
            detected.extend(batch)
            return (yield from detect(self, batch))

        for module in (checkpoint, placement):
            monkeypatch.setattr(module, "_BATCH", 1)
        with monkeypatch.context() as patch:
            patch.setattr(LocalDetector, "detect", interrupted)
            result = CliRunner().invoke(app, ["mask", str(source), str(out)])
        assert result.exit_code != 0
        assert not out.exists()
        assert detected == texts[:2]
        assert len(progress.read_text("utf-8").splitlines()) == 3
        assert "Krastev" not in progress.read_text("utf-8")

        def counted(self: LocalDetector, batch: Sequence[str]) -> Any:
            detected.extend(batch)
            return (yield from detect(self, batch))

        monkeypatch.setattr(LocalDetector, "detect", counted)
        result = CliRunner().invoke(app, ["mask", str(source), str(out)])
        assert result.exit_code == 0, result.output
        assert detected == texts
        assert not progress.exists()
        whole = tmp_path / "whole.jsonl"
        CliRunner().invoke(app, ["mask", str(source), str(whole)])
        assert out.read_text("utf-8") == whole.read_text("utf-8")
        assert len(out.read_text("utf-8").splitlines()) == 3


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    """Ids made with it could be guessed."""
    key, out = tmp_path / "key", tmp_path / "out.jsonl"
    key.write_bytes(b"short\n")
    arguments = ["mask", str(FOLDER), str(out), "--given", "--key-file", str(key)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code != 0
    assert not out.exists()


def test_a_report_holds_no_value() -> None:
    """Types, numbers and ids; no script and no address outside."""
    clusters = packaged_clusters()
    documents = [document for one in clusters for document in one.documents]
    mentions = {
        id_: entities
        for cluster in clusters
        for id_, entities in (cluster.entities or {}).items()
    }
    masked = mask_corpus(documents, {"select": "greedy"}, mentions=mentions)
    report = render_linkage(masked)
    forms = {form for e in masked.assessment.resolved.entities for form in e.forms}
    assert not [form for form in forms if len(form) > 3 and form in report]
    assert "<script" not in report
    assert "http:" not in report
    assert "<svg" in report


def test_a_report_says_what_was_not_enumerated_and_not_read() -> None:
    """And it shows no id in which a masked form stands."""
    clusters = packaged_clusters()
    documents = [document for one in clusters for document in one.documents]
    rows = {k: v for one in clusters for k, v in (one.entities or {}).items()}
    section = {"chain_length": 4, "max_chains": 12, "max_document_risk": 1.0}
    masked = mask_corpus(documents, section, mentions=rows)
    lost = replace(
        masked, decisions=(*masked.decisions, Decision("x", "withheld", "linkage"))
    )
    report = render_linkage(lost)
    assert "Not enumerated" in report
    assert "1 documents could not be read" in report


def test_rates_do_not_depend_on_an_order() -> None:
    """Sums are exact, so a rate at a threshold is on it in every run."""
    types = ["NAME", "AGE", "LOCATION", "EVENT_DATE", "DEMOGRAPHIC", "TREATMENT"]
    person = tuple((f"v{n}", type_) for n, type_ in enumerate(types))
    cluster = replace(packaged_clusters()[0], person=person)
    rates = {
        leak_rate(cluster, order, WEIGHTS)
        for order in itertools.permutations(person[:4])
    }
    assert len(rates) == 1


class TestIngest:
    """Documents from files."""

    def test_json_jsonl_and_text(self, tmp_path: Path) -> None:
        """A folder is read in the order of its names."""
        (tmp_path / "a.json").write_text('{"id": "1", "content": "x"}', "utf-8")
        (tmp_path / "b.jsonl").write_text('{"id": 2, "text": "y"}\n\n', "utf-8")
        (tmp_path / "c.txt").write_text("z", "utf-8")
        read = read_documents(tmp_path)
        assert [(d.id, d.text) for d in read.documents] == [
            ("1", "x"),
            ("2", "y"),
            ("c", "z"),
        ]
        assert read.entities is None

    def test_a_key_tells_contents_apart(self, tmp_path: Path) -> None:
        """One id twice is an error, unless a keyed hash of the content joins it."""
        path = tmp_path / "a.jsonl"
        rows = [{"id": "1", "content": "X"}, {"id": "1", "content": "y"}]
        path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        with pytest.raises(UsageError, match="same id"):
            read_documents(path)
        one, two = read_documents(path, b"secret").documents
        assert one.id == document_id("1", "x", b"secret") != two.id

    @pytest.mark.parametrize("text", ["{", "[1]", '[{"id": 1}]', "[]", "null"])
    def test_what_cannot_be_read_is_an_error(self, tmp_path: Path, text: str) -> None:
        """Without a word of what was in it."""
        path = tmp_path / "a.json"
        path.write_text(text, "utf-8")
        with pytest.raises(UsageError):
            read_documents(path)


def test_clusters_from_one_file(tmp_path: Path) -> None:
    """A list in JSON, or one cluster a line."""
    names = ("apprentice.json", "beekeeper.json")
    clusters = [json.loads((FOLDER / name).read_text("utf-8")) for name in names]
    (tmp_path / "a.json").write_text(json.dumps(clusters), "utf-8")
    lines = "\n".join(json.dumps(cluster) for cluster in clusters)
    (tmp_path / "b.jsonl").write_text(lines, "utf-8")
    one, two = (read_clusters(tmp_path / name) for name in ("a.json", "b.jsonl"))
    assert [c.id for c in one] == [c.id for c in two]
    assert len(one) == 2
