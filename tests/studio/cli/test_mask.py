"""`sdrag mask`: what links people is masked, and stays masked."""

from __future__ import annotations

import json
import re
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from typer.testing import CliRunner

from sdrag.detectors.local import LocalDetector
from sdrag.effects.steps import Failure
from sdrag.errors import UsageError
from sdrag.linkage import Fitted
from sdrag.studio.cli import common
from sdrag.studio.cli.app import app
from sdrag.studio.documents import read_bytes

from ...support.scripted import canary

WHO = "Ivo Krastev"
TEXT = f"Mr. {WHO} called about claim KX-20-4417."
SECRET = "0123456789abcdef0123456789abcdef"
STRICT = (
    "linkage: {max_document_risk: 0.05, edge_threshold: 0.1, "
    "resolution: {meaning: false, terms: false}"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A key, a policy, and a folder of every format that needs no library."""
    source = tmp_path / "in"
    (source / "sub").mkdir(parents=True)
    (tmp_path / "key").write_text(SECRET + "\n")
    (tmp_path / "policy.yaml").write_text(STRICT + "}\n")
    (source / "a.txt").write_text(TEXT)
    (source / "sub" / "b.md").write_text(f"# Note\r\n\r\n{TEXT}\r\n", newline="")
    (source / "ivo_krastev.txt").write_text("The quay opens at six.")
    (source / "page.html").write_text(f"<h1>Call</h1><p title='{WHO}'>{TEXT}</p>")
    (source / "rows.csv").write_text(f"who,what\n{WHO},called\nNobody,slept\n")
    (source / "list.json").write_text(
        json.dumps([{"id": 1, "text": TEXT, "by": WHO}, {"id": 2, "text": "Quiet."}])
    )
    (source / "lines.jsonl").write_text(
        json.dumps({"content": TEXT, "metadata": {"who": WHO, "source": "desk"}}) + "\n"
    )
    table = pa.table({"text": [TEXT, "Quiet."], "who": [WHO, ""]})
    pq.write_table(table, source / "table.parquet")
    (source / "d.bin").write_bytes(b"\0")
    (source / "empty.txt").write_text(" \n")
    return tmp_path


def call(folder: Path, *arguments: object) -> dict[str, Any]:
    """Mask with the policy; return the JSON object. 1 says that a file is skipped."""
    given = ["mask", *map(str, arguments), "--policy", str(folder / "policy.yaml")]
    result = CliRunner().invoke(app, [*given, "--json"], catch_exceptions=False)
    figures: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    assert result.exit_code == bool(figures["skipped"]), result.output
    return figures


def again(folder: Path, *arguments: object) -> dict[str, Any]:
    """Mask into OUT, which the first argument but one names, in place of what it is."""
    out = Path(str(arguments[1]))
    if out.is_dir():
        shutil.rmtree(out)
    out.unlink(missing_ok=True)
    return call(folder, *arguments, "--key-file", folder / "key")


def written(path: Path) -> dict[str, str]:
    """Return what is in a folder, by relative path."""
    return {
        file.relative_to(path).as_posix(): file.read_bytes().decode()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def rows_of(lines: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.splitlines()]


def test_a_folder_becomes_a_folder(folder: Path) -> None:
    """Text stays text, rows stay rows; no value is left, in no name either."""
    figures = call(folder, folder / "in", folder / "out")
    out = written(folder / "out")
    assert "[NAME] called about claim" in out["a.txt"]
    assert out["sub/b.md"] == f"# Note\r\n\r\n{out['a.txt']}\r\n"
    assert out["page.html.txt"] == f"Call\n[NAME]\n{out['a.txt']}"
    assert (
        out["rows.csv.txt"] == "who: [NAME]\nwhat: called\n\nwho: Nobody\nwhat: slept"
    )
    rows = rows_of(out["list.json.jsonl"])
    assert [row["id"] for row in rows] == ["list.json#1", "list.json#2"]
    (line,) = rows_of(out["lines.jsonl"])
    assert line["metadata"] == {"who": "[NAME]", "source": "desk"}
    first, _ = rows_of(out["table.parquet.jsonl"])
    assert first["metadata"] == {"source": "table.parquet", "who": "[NAME]"}
    (alias,) = [name for name in out if name.startswith("document-")]
    assert re.fullmatch(r"document-n\d{7}\.txt", alias)
    assert len(out) == 8
    assert not re.search("ivo|krastev", json.dumps(out), re.IGNORECASE)
    assert figures["documents"] == 10
    assert {file["path"] for file in figures["skipped"]} == {"d.bin", "empty.txt"}
    assert {file["path"] for file in figures["remarks"]} >= {"list.json", "rows.csv"}
    assert figures["links_after"] < figures["links_before"]
    assert not list(folder.glob(".*"))


def test_a_policy_of_sentences_alone_is_warned_of(folder: Path) -> None:
    """Masking applies none of them; with a linkage section its author knows."""
    for policy, warned in (("- Hide the van\n", True), (STRICT + "}\n", False)):
        (folder / "p.yaml").write_text(policy)
        target = folder / f"{warned}.jsonl"
        given = ["mask", folder / "in" / "a.txt", target, "--policy", folder / "p.yaml"]
        result = CliRunner().invoke(app, list(map(str, given)))
        assert ("none of the 1 sentences" in result.stderr) is warned


def test_a_table_is_a_document_or_each_of_its_rows(folder: Path) -> None:
    table = folder / "in" / "rows.csv"
    whole = call(folder, table, folder / "out.jsonl")
    rows = call(folder, table, folder / "rows.jsonl", "--rows")
    assert (whole["documents"], rows["documents"]) == (1, 2)


def test_a_folder_becomes_lines_that_are_read_again(folder: Path) -> None:
    """With relative paths as ids, in the order of the paths."""
    (folder / "in" / "a.txt").write_text(f"{TEXT}\u2028\x85at the café \U0001f690")
    call(folder, folder / "in", folder / "out.jsonl")
    data = (folder / "out.jsonl").read_bytes()
    rows = rows_of(data.decode())
    assert (rows[0]["id"], rows[-1]["id"]) == ("a.txt", "table.parquet#2")
    assert rows[0]["content"].endswith("\u2028\x85at the café \U0001f690")
    assert [d.text for d in read_bytes("out.jsonl", data).documents] == [
        row["content"] for row in rows
    ]
    assert b"rastev" not in data


def test_no_file_takes_the_place_of_another(folder: Path) -> None:
    source = folder / "one"
    source.mkdir()
    (source / "a.html").write_text("One.")
    (source / "a.html.txt").write_text("Quiet.")
    call(folder, source, folder / "out")
    assert sorted(written(folder / "out").values()) == ["One.", "Quiet."]


@pytest.mark.parametrize("out", ["out", "out.jsonl"])
def test_only_what_is_masked_may_be_read_by_others(folder: Path, out: str) -> None:
    """Also where an open file, or a half of it, was there; OUT goes by the umask."""
    private = ["key.plan", "report.html", "links.graphml"]
    for path in (folder / "report.html", *(folder / f"{n}.partial" for n in private)):
        path.write_text("before")
        path.chmod(0o644)
    options = ("--key-file", folder / "key", "--report", folder / "report.html")
    call(folder, folder / "in", folder / out, *options, "--graph", folder / private[2])

    modes = {name: stat.S_IMODE((folder / name).stat().st_mode) for name in private}
    assert modes == dict.fromkeys(private, 0o600)
    written_to = folder / out if out.endswith("l") else folder / out / "a.txt"
    (folder / "usual").write_text("")
    assert written_to.stat().st_mode == (folder / "usual").stat().st_mode


@pytest.mark.parametrize("out", ["out", "out.jsonl"])
def test_what_was_masked_stays_masked(folder: Path, out: str) -> None:
    """In as many documents as it may be later."""
    source = folder / "one"
    source.mkdir()
    (source / "n00.txt").write_text(f"Mr. {WHO} came.")
    again(folder, source, folder / out)
    for number in range(1, 16):
        (source / f"n{number:02}.txt").write_text(f"Mr. {WHO} came on day {number}.")
    assert again(folder, source, folder / out)["documents"] == 16
    assert "rastev" not in _all(folder / out)
    call(folder, source, folder / "fresh")
    assert "rastev" in _all(folder / "fresh")  # or it would be no proof


@pytest.mark.parametrize("told", [True, False])
def test_pseudonyms_that_are_refused_are_counted(folder: Path, *, told: bool) -> None:
    """By reason, with the links that the others keep; without a value."""
    limit = "max_document_risk: 0.05" if told else "max_chain_risk: 0.1"
    policy = STRICT.replace("max_document_risk: 0.05", limit)
    (folder / "policy.yaml").write_text(f"{policy}, replace: pseudonym}}")
    figures = again(folder, folder / "in", folder / "out")

    assert bool(figures["pseudonyms"]) == told
    assert [*figures["pseudonyms_refused"]] == ([] if told else ["keeps-chain"])
    assert bool(figures["links_kept_by_pseudonyms"]) == told


def _all(place: Path) -> str:
    return place.read_text() if place.is_file() else "".join(written(place).values())


def test_only_what_is_new_or_changed_is_detected(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the plan knows is not read again; the file of what is gone is not there."""
    seen: list[str] = []
    detect = LocalDetector.detect

    def counted(self: LocalDetector, texts: list[str]) -> Any:
        seen.extend(texts)
        return (yield from detect(self, texts))

    monkeypatch.setattr(LocalDetector, "detect", counted)
    source = folder / "one"
    source.mkdir()
    for name, text in (("a", "One."), ("b", "Two."), ("c", "Gone.")):
        (source / f"{name}.txt").write_text(text)
    again(folder, source, folder / "out")
    (source / "b.txt").write_text("Three.")
    (source / "0.txt").write_text("Four.")
    (source / "c.txt").unlink()
    again(folder, source, folder / "out")
    assert seen == ["One.", "Two.", "Gone.", "Four.", "Three."]
    assert written(folder / "out").keys() == {"0.txt", "a.txt", "b.txt"}


def test_nothing_is_kept_in_plain_text(folder: Path) -> None:
    """The plan is encrypted, and undoes the masking for whoever has the key."""
    again(folder, folder / "in", folder / "out")
    assert b"rastev" not in (folder / "key.plan").read_bytes()
    plan = Fitted.open(folder / "key.plan", SECRET.encode())
    masked = {form for entity in plan.masked.entities for form in entity.forms}
    assert WHO in masked


KILL = """
import os, signal
from pathlib import Path
left, replace = {left}, Path.replace
def killing(self, target):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
Path.replace = killing
from sdrag.studio.cli import main
main()
"""


@pytest.mark.parametrize("left", [1, 2])
def test_a_run_that_was_killed_and_run_again_gives_the_same_bytes(
    folder: Path, left: int
) -> None:
    """Wherever it is killed: before the plan is there, or before OUT is."""
    (folder / "policy.yaml").write_text(f"{STRICT}, replace: pseudonym}}\n")
    arguments = ("mask", folder / "in", folder / "out", "--key-file", folder / "key")
    given = [*map(str, arguments), "--policy", str(folder / "policy.yaml")]
    ended = subprocess.run(
        [sys.executable, "-c", KILL.format(left=left), *given],
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == -signal.SIGKILL
    assert not (folder / "out").exists()
    again(folder, folder / "in", folder / "out")
    again(folder, folder / "in", folder / "whole")
    assert written(folder / "out") == written(folder / "whole")
    assert not [path.name for path in folder.iterdir() if "partial" in path.name]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []

    class Model(GenericFakeChatModel):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            asked.append(str(messages[-1].content))
            text = asked[-1].rpartition("Document:\n")[2]
            if asked[-1].startswith("Rewrite"):
                self.messages = iter([text.replace("[NAME]", "the caller")])
            else:
                rows = [[WHO, WHO, "NAME", 0.9]] if WHO in text else []
                self.messages = iter([json.dumps({"entities": rows})])
            return super()._generate(messages, *args, **kwargs)

    def made(*_: object) -> Model:
        return Model(messages=iter(()))

    monkeypatch.setattr(common, "chat_model", made)
    return asked


def test_a_model_reads_and_rewrites(folder: Path, asked: list[str]) -> None:
    """A document is read twice and rewritten once; then only new ones are."""
    (folder / "policy.yaml").write_text(STRICT + ", replace: rewrite}\n")
    source = folder / "one"
    source.mkdir()
    (source / "a.txt").write_text(f"{WHO} called today.")
    options = (source, folder / "out", "--llm", "langchain:fake:model")
    again(folder, *options)
    assert written(folder / "out") == {"a.txt": "the caller called today."}
    assert len(asked) == 3
    (source / "b.txt").write_text("Nobody wrote at all.")
    again(folder, *options)
    assert len(asked) == 5
    second = written(folder / "out")
    assert second["a.txt"] == "the caller called today."
    again(folder, *options)
    assert len(asked) == 5
    assert written(folder / "out") == second


def test_what_a_detector_could_not_read_is_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not written, and named without a masked form."""
    who = canary("who")

    def failing(self: LocalDetector, texts: list[str]) -> Any:
        yield from ()
        return [Failure(UsageError(who)) for _ in texts]

    monkeypatch.setattr(LocalDetector, "detect", failing)
    figures = call(folder, folder / "in", folder / "out")
    assert figures["documents"] == 0
    assert len(figures["skipped"]) == 12
    assert written(folder / "out") == {}
