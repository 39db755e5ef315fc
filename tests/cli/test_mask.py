"""`sdrag mask`: what links people is masked, and stays masked."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from typer.testing import CliRunner

from sdrag.cli import common, main
from sdrag.cli.app import app
from sdrag.detectors.local import LocalDetector
from sdrag.documents import parquet_rows
from sdrag.effects.steps import Failure
from sdrag.errors import UsageError
from sdrag.linkage import Fitted

from ..support.scripted import canary

mask_module = import_module("sdrag.cli.mask")
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
    (source / "d.bin").write_bytes(b"\0")
    (source / "empty.txt").write_text(" \n")
    return tmp_path


def call(folder: Path, *arguments: object) -> dict[str, Any]:
    """Mask with the policy; return the JSON object."""
    given = ["mask", *map(str, arguments), "--policy", str(folder / "policy.yaml")]
    result = CliRunner().invoke(app, [*given, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def written(path: Path) -> dict[str, str]:
    """Return what is in a folder, by relative path."""
    return {
        one.relative_to(path).as_posix(): one.read_bytes().decode()
        for one in sorted(path.rglob("*"))
        if one.is_file()
    }


def test_a_folder_becomes_a_folder(folder: Path) -> None:
    """The same names where the format can be written, else the text; no value left."""
    found = call(folder, folder / "in", folder / "new" / "out")
    out = written(folder / "new" / "out")
    assert "[NAME] called about claim" in out["a.txt"]
    assert out["sub/b.md"] == f"# Note\r\n\r\n{out['a.txt']}\r\n"
    assert out["page.html.txt"] == f"Call\n[NAME]\n{out['a.txt']}"
    assert (
        out["rows.csv.txt"] == "who: [NAME]\nwhat: called\n\nwho: Nobody\nwhat: slept"
    )
    rows = json.loads(out["list.json"])
    assert [row["id"] for row in rows] == ["list.json#1", "list.json#2"]
    assert json.loads(out["lines.jsonl"])["metadata"] == {
        "who": "[NAME]",
        "source": "desk",
    }
    (alias,) = out.keys() - {
        "a.txt",
        "sub/b.md",
        "page.html.txt",
        "rows.csv.txt",
        "list.json",
        "lines.jsonl",
    }
    assert re.fullmatch(r"document-n\d{7}\.txt", alias)
    assert not re.search("ivo|krastev", json.dumps(out), re.IGNORECASE)
    assert found["documents"] == 9
    assert {one["path"] for one in found["skipped"]} == {"d.bin", "empty.txt"}
    assert found["masked_entities"] >= 2
    assert found["links_after"] < found["links_before"]
    assert found["seconds"] > 0
    assert sorted(one.name for one in (folder / "new").iterdir()) == ["out"]


@pytest.mark.parametrize("out", ["out", "out.jsonl"])
def test_only_what_is_masked_may_be_read_by_others(folder: Path, out: str) -> None:
    """Also where an open file, or a half of it, was there; OUT goes by the umask."""
    private = ["key.plan", "report.html"]
    for path in (folder / "report.html", *(folder / f"{n}.partial" for n in private)):
        path.write_text("before")
        path.chmod(0o644)
    options = ("--key-file", folder / "key", "--report", folder / "report.html")
    call(folder, folder / "in", folder / out, *options)

    modes = {name: stat.S_IMODE((folder / name).stat().st_mode) for name in private}
    assert modes == dict.fromkeys(private, 0o600)
    written_to = folder / out if out.endswith("l") else folder / out / "a.txt"
    (folder / "usual").write_text("")
    assert written_to.stat().st_mode == (folder / "usual").stat().st_mode


def test_a_folder_becomes_lines(folder: Path) -> None:
    """With relative paths as ids, in the order of the paths."""
    call(folder, folder / "in", folder / "out.jsonl")
    text = (folder / "out.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    assert rows[0]["id"] == "a.txt"
    assert rows[-1]["id"] == "sub/b.md"
    assert "rastev" not in text


def test_a_folder_becomes_a_parquet_file(folder: Path) -> None:
    """With the rows of JSON lines."""
    call(folder, folder / "in", folder / "out.jsonl")
    call(folder, folder / "in", folder / "out.parquet")
    data = (folder / "out.parquet").read_bytes()
    lines = (folder / "out.jsonl").read_text().splitlines()
    assert list(parquet_rows(data)) == [json.loads(line) for line in lines]
    assert not list(folder.glob("*.partial"))


def test_a_parquet_file_is_masked_as_lines_are(folder: Path) -> None:
    """The texts that are written are the same."""
    rows = [{"id": "1", "text": TEXT}, {"id": "2", "text": f"{WHO} wrote again."}]
    pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    texts = []
    for suffix in ("jsonl", "parquet"):
        out = folder / f"{suffix}.jsonl"
        call(folder, folder / f"rows.{suffix}", out)
        lines = map(json.loads, out.read_text().splitlines())
        texts.append([line["content"] for line in lines])
    assert texts[0] == texts[1]
    assert "rastev" not in str(texts)


def test_a_parquet_file_keeps_its_name(folder: Path) -> None:
    """In a folder; a column with a name in it is masked as metadata are."""
    table = pa.table({"text": [TEXT, "Quiet."], "who": [WHO, ""]})
    pq.write_table(table, folder / "in" / "table.parquet")
    call(folder, folder / "in", folder / "out")
    data = (folder / "out" / "table.parquet").read_bytes()
    one, two = parquet_rows(data)
    assert one["id"] == "table.parquet#1"
    assert one["metadata"] == {"source": "table.parquet", "who": "[NAME]"}
    assert two["metadata"] == {"source": "table.parquet", "who": ""}
    assert b"rastev" not in data


def test_a_file_becomes_a_folder(folder: Path) -> None:
    """A file of the same name is in it."""
    call(folder, folder / "in" / "a.txt", folder / "out")
    assert written(folder / "out").keys() == {"a.txt"}


class TestAgain:
    """With a key file the plan is kept."""

    @pytest.mark.parametrize("other", [False, True])
    @pytest.mark.parametrize("out", ["out", "out.jsonl"])
    def test_what_was_masked_stays_masked(
        self, folder: Path, out: str, *, other: bool
    ) -> None:
        """In as many documents as it may be later, in whatever OUT they are written."""
        source, key = folder / "one", ("--key-file", folder / "key", "--overwrite")
        source.mkdir()
        (source / "n00.txt").write_text(f"Mr. {WHO} came.")
        call(folder, source, folder / out, *key)
        for number in range(1, 16):
            (source / f"n{number:02}.txt").write_text(
                f"Mr. {WHO} came on day {number}."
            )
        place = folder / ("second" + Path(out).suffix if other else out)
        found = call(folder, source, place, *key)
        assert found["documents"] == 16
        assert "rastev" not in _all(place)
        fresh = folder / ("fresh" + Path(out).suffix)
        call(folder, source, fresh)
        assert "rastev" in _all(fresh)  # or it would be no proof

    def test_pseudonyms_stay(self, folder: Path) -> None:
        """Whatever form is the commonest, and the longest, by then."""
        (folder / "policy.yaml").write_text(STRICT + ", replace: pseudonym}\n")
        source, key = folder / "one", ("--key-file", folder / "key", "--overwrite")
        source.mkdir()
        (source / "a.txt").write_text("Mr. Krastev came.")
        call(folder, source, folder / "out", *key)
        before = written(folder / "out")["a.txt"]
        assert re.search(r"\[NAME_[0-9a-f]{16}\]", before)
        for name in "bcd":
            (source / f"{name}.txt").write_text(f"Mr. {WHO} came.")
        call(folder, source, folder / "out", *key)
        assert set(written(folder / "out").values()) == {before}

    def test_only_new_documents_are_detected(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What the plan knows is not read again; what changed is."""
        seen: list[str] = []
        detect = LocalDetector.detect

        def counted(self: LocalDetector, texts: list[str]) -> Any:
            seen.extend(texts)
            return (yield from detect(self, texts))

        monkeypatch.setattr(LocalDetector, "detect", counted)
        source, key = folder / "one", ("--key-file", folder / "key", "--overwrite")
        source.mkdir()
        (source / "a.txt").write_text("One.")
        (source / "b.txt").write_text("Two.")
        call(folder, source, folder / "out", *key)
        (source / "b.txt").write_text("Three.")
        (source / "0.txt").write_text("Four.")
        call(folder, source, folder / "out", *key)
        assert seen == ["One.", "Two.", "Four.", "Three."]

    def test_a_document_that_is_gone_is_removed(self, folder: Path) -> None:
        """Its file would hold what is masked by now."""
        key = ("--key-file", folder / "key", "--overwrite")
        call(folder, folder / "in", folder / "out", *key)
        (folder / "in" / "sub" / "b.md").unlink()
        call(folder, folder / "in", folder / "out", *key)
        assert not (folder / "out" / "sub").exists()
        assert not list(folder.glob(".out*"))

    def test_two_runs_are_as_one(self, folder: Path) -> None:
        """The same bytes as masking all at once, where nothing is masked for good."""
        key = ("--overwrite", "--key-file", folder / "key", "--plan")
        first = folder / "first"
        first.mkdir()
        (first / "a.txt").write_text(TEXT)
        call(folder, first, folder / "out", *key, folder / "p1")
        for name in ("0.txt", "b.txt"):
            (first / name).write_text(TEXT.replace("called", "wrote"))
        call(folder, first, folder / "out", *key, folder / "p1")
        call(folder, first, folder / "whole", *key, folder / "p2")
        assert written(folder / "out") == written(folder / "whole")

    def test_nothing_is_kept_in_plain_text(self, folder: Path) -> None:
        """The plan is encrypted, and undoes the masking for whoever has the key."""
        key = ("--key-file", folder / "key")
        call(folder, folder / "in", folder / "out", *key)
        assert b"rastev" not in (folder / "key.plan").read_bytes()
        plan = Fitted.open(folder / "key.plan", SECRET.encode())
        masked = {form for entity in plan.masked.entities for form in entity.forms}
        assert WHO in masked


def _all(place: Path) -> str:
    return place.read_text() if place.is_file() else "".join(written(place).values())


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
from sdrag.cli import main
main()
"""


@pytest.mark.parametrize("left", [1, 2, 9])
def test_a_run_that_was_killed_and_run_again_gives_the_same_bytes(
    folder: Path, left: int
) -> None:
    """Wherever it is killed: before the plan, among the files, or with the folder."""
    (folder / "policy.yaml").write_text(f"{STRICT}, replace: pseudonym}}\n")
    key = ("--key-file", folder / "key")
    arguments = [
        folder / "in",
        folder / "out",
        *key,
        "--policy",
        folder / "policy.yaml",
    ]
    ended = subprocess.run(
        [sys.executable, "-c", KILL.format(left=left), "mask", *map(str, arguments)],
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == -signal.SIGKILL
    assert not (folder / "out").exists()
    call(folder, folder / "in", folder / "out", *key)
    whole = ("--plan", folder / "whole.plan")
    call(folder, folder / "in", folder / "whole", *key, *whole)
    assert written(folder / "out") == written(folder / "whole")
    left_over = [one.name for one in folder.iterdir() if "partial" in one.name]
    assert not left_over


class TestModel:
    """`--llm`: a model reads, and rewrites."""

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
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

        def made(name: str) -> Model:
            return Model(messages=iter(()))

        monkeypatch.setattr(common, "chat_model", made)
        return asked

    def test_it_reads_and_rewrites(self, folder: Path, asked: list[str]) -> None:
        """A document is read twice and rewritten once; then only new ones are."""
        (folder / "policy.yaml").write_text(STRICT + ", replace: rewrite}\n")
        source = folder / "one"
        source.mkdir()
        (source / "a.txt").write_text(f"{WHO} called today.")
        key = ("--key-file", folder / "key", "--overwrite")
        options = ("--llm", "langchain:fake:model", *key)
        call(folder, source, folder / "out", *options)
        assert written(folder / "out") == {"a.txt": "the caller called today."}
        assert len(asked) == 3
        (source / "b.txt").write_text("Nobody wrote at all.")
        call(folder, source, folder / "out", *options)
        assert len(asked) == 5
        second = written(folder / "out")
        assert second["a.txt"] == "the caller called today."
        call(folder, source, folder / "out", *options)
        assert len(asked) == 5
        assert written(folder / "out") == second


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing", "out"), "There is no"),
        (("in/d.bin", "out"), "another suffix"),
        (("in/empty.txt", "out"), "is empty"),
        (("nothing", "out"), "no file"),
        (("torn.txt", "out"), "is no text"),
        (("in", "taken"), "exists"),
        (("in", "taken.jsonl"), "exists"),
        (("in", "taken", "--key-file", "key"), "exists"),
        (("in", "key"), "is a file"),
        (("in", "folder.jsonl"), "is a folder"),
        (("in", "out.txt"), "neither a folder nor"),
        (("in/sub", "in", "--overwrite"), "holds more"),
        (("in", "in/out"), "is in"),
        (("in", "in"), "is in"),
        (("in/a.txt", "in/a.txt"), "neither a folder nor"),
        (("in", "key/out"), "cannot be written"),
        (("in", "out", "--policy", "missing.yaml"), "FileNotFoundError"),
        (("in", "out", "--policy", "wrong.yaml"), "line 2"),
        (("in", "out", "--policy", "in"), "policy"),
        (("in", "out", "--policy", "in/d.bin"), "not YAML"),
        (("in", "out", "--key-file", "missing"), "cannot be read"),
        (("in", "out", "--key-file", "in"), "cannot be read"),
        (("in", "out", "--key-file", "in/empty.txt"), "0 bytes"),
        (("in", "out", "--plan", "p"), "--key-file"),
        (("in", "out", "--key-file", "key", "--plan", "in"), "is a folder"),
        (("in", "out", "--key-file", "key", "--plan", "key"), "no plan"),
        (("in", "out", "--report", "in"), "is a folder"),
        (("in", "out", "--policy", "pseudonym.yaml"), "key"),
        (("in", "out", "--policy", "rewrite.yaml"), "needs a model"),
        (("in", "out", "--llm", "other"), "--llm takes"),
        (("in", "out", "--llm", "langchain:none:such"), "cannot be made"),
        (("in", "out", "--unknown"), "--unknown"),
        (("in",), "OUT"),
    ],
)
def test_a_wrong_call_ends_with_2_and_writes_nothing(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    """One clear line, exit status 2, and the folder as it was."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("nothing", "taken", "folder.jsonl"):
        (folder / name).mkdir()
    (folder / "taken" / "x").write_text("mine")
    (folder / "taken.jsonl").write_text("mine")
    (folder / "torn.txt").write_bytes(b"\0\1\2")
    (folder / "wrong.yaml").write_text("linkage:\n  replase: label\n")
    for style in ("pseudonym", "rewrite"):
        (folder / f"{style}.yaml").write_text(f"linkage: {{replace: {style}}}\n")
    monkeypatch.setattr("sys.argv", ["sdrag", "mask", *arguments])
    before = sorted(folder.rglob("*"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    line = capsys.readouterr().err
    assert said in line
    assert "Traceback" not in line
    assert "rastev" not in line
    assert sorted(folder.rglob("*")) == before


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of files and folders that may not be touched, whoever asks."""
    names: set[str] = set()
    opened = Path.open

    def refusing(self: Path, *args: Any, **kwargs: Any) -> Any:
        if self.name in names:
            raise PermissionError(13, "Permission denied")
        return opened(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refusing)
    monkeypatch.setattr(Path, "read_bytes", lambda self: refusing(self, "rb").read())
    monkeypatch.setattr(
        Path, "write_bytes", lambda self, data: refusing(self, "wb").write(data)
    )
    return names


@pytest.mark.parametrize("name", ["a.txt", "key", "key.plan.partial"])
def test_without_permission(
    folder: Path,
    locked: set[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    """To read a file or the key, or to write the plan."""
    locked.add(name)
    source, key = folder / "in" / "a.txt", ("--key-file", folder / "key")
    given = ["sdrag", "mask", str(source), str(folder / "out"), *map(str, key)]
    monkeypatch.setattr("sys.argv", given)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "PermissionError" in capsys.readouterr().err
    assert not (folder / "out").exists()


def test_a_folder_that_may_not_be_written_is_found_early(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is read; even for whoever may do everything."""
    monkeypatch.setattr("sys.argv", ["sdrag", "mask", str(folder / "in"), "/proc/out"])
    monkeypatch.setattr(mask_module, "read_input", None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2


def test_what_a_detector_could_not_read_is_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not written, and named without a masked form."""
    who = canary("who")

    def failing(self: LocalDetector, texts: list[str]) -> Any:
        yield from ()
        return [Failure(UsageError(who)) for _ in texts]

    monkeypatch.setattr(LocalDetector, "detect", failing)
    found = call(folder, folder / "in", folder / "out")
    assert (found["documents"], found["withheld"]) == (0, 9)
    assert len(found["skipped"]) == 11
    assert written(folder / "out") == {}
