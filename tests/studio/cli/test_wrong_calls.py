"""Every command, called wrongly: exit status 2, a clear line, nothing half-written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sdrag.studio.cli import main

CHUNK = '{"id": "1", "text": "The quay opens at six."}\n'
WRONG = {
    "check": [
        [],
        ["--unknown"],
        ["--schema"],
        ["--schema", "other"],
        ["missing.yaml"],
        ["documents"],
        ["binary"],
        ["list.yaml"],
        ["broken.yaml"],
        ["key.yaml"],
        ["sealed.yaml"],
        ["policy.yaml", "--llm", "other"],
    ],
    "init": [
        ["started"],
        ["binary"],
        ["binary/inside"],
        ["\0"],
        ["/proc/sdrag"],
    ],
    "preview": [
        ["policy.yaml"],
        ["policy.yaml", "missing"],
        ["missing.yaml", "chunks.jsonl"],
        ["binary", "chunks.jsonl"],
        ["policy.yaml", "chunks.jsonl", "--html", "documents"],
        ["policy.yaml", "chunks.jsonl", "--html", "missing/p.html"],
        ["policy.yaml", "chunks.jsonl", "--llm", "other"],
        ["policy.yaml", "chunks.jsonl", "--text", "x"],
        ["policy.yaml", "--text", " "],
        ["policy.yaml", "--text", "x", "--html", "p.html"],
        ["policy.yaml", "--text", "x", "--llm", "other"],
    ],
    "mask": [
        ["started"],
        ["missing", "out"],
        ["binary", "out"],
        ["documents", "out"],
        ["started", "documents"],
        ["started", "chunks.jsonl"],
        ["started", "out.txt"],
        ["started", "started/out"],
        ["started", "binary/out"],
        ["started", "missing/out"],
        ["started", "/proc/out"],
        ["chunks.jsonl", "out", "--policy", "missing.yaml"],
        ["chunks.jsonl", "out", "--policy", "key.yaml"],
        ["chunks.jsonl", "out", "--policy", "pseudonym.yaml"],
        ["chunks.jsonl", "out", "--policy", "rewrite.yaml"],
        ["chunks.jsonl", "out", "--key-file", "missing"],
        ["chunks.jsonl", "out", "--key-file", "documents"],
        ["chunks.jsonl", "out", "--key-file", "sealed.yaml"],
        ["chunks.jsonl", "out", "--key-file", "empty.jsonl"],
        ["chunks.jsonl", "out", "--key-file", "pseudonym.yaml"],
        ["chunks.jsonl", "out", "--report", "documents"],
        ["chunks.jsonl", "out", "--llm", "other"],
        ["chunks.jsonl", "out", "--llm", "langchain:none:such"],
        ["chunks.jsonl", "out", "--engine", "ray", "--llm", "langchain:openai:x"],
    ],
    "model-check": [
        [],
        ["missing.yaml", "articles.json"],
        ["policy.yaml", "missing.json"],
        ["policy.yaml", "chunks.jsonl"],
        ["policy.yaml", "--llm", "other"],
    ],
    "scan": [
        ["missing"],
        ["documents"],
        ["chunks.jsonl", "--policy", "key.yaml"],
        ["chunks.jsonl", "--report", "documents"],
    ],
    "suggest": [
        [],
        ["missing"],
        ["documents"],
        ["chunks.jsonl", "--policy", "policy.yaml"],
        ["chunks.jsonl", "--policy", "missing.yaml", "--must-go", "Marsh"],
        ["chunks.jsonl", "--policy", "key.yaml", "--must-go", "Marsh"],
        ["chunks.jsonl", "--llm", "other"],
    ],
    "workbench": [
        ["missing.yaml"],
        ["policy.yaml", "--documents", "missing"],
        ["policy.yaml", "--port", "70000"],
    ],
    "audit": [
        ["missing.jsonl"],
        ["documents"],
        ["empty.jsonl"],
        ["binary"],
    ],
    "bind": [
        ["policy.yaml"],
        ["policy.yaml", "chunks.jsonl"],
        ["missing.yaml", "chunks.jsonl", "--state", "s.sqlite"],
        ["policy.yaml", "binary", "--state", "s.sqlite"],
        ["policy.yaml", "empty.jsonl", "--state", "s.sqlite"],
        ["policy.yaml", "key.yaml", "--state", "s.sqlite"],
        ["policy.yaml", "chunks.jsonl", "--state", "documents"],
        ["policy.yaml", "chunks.jsonl", "--state", "missing/s.sqlite"],
        ["policy.yaml", "chunks.jsonl", "--state", "s.sqlite", "--llm", "other"],
        ["policy.yaml", "chunks.jsonl", "--chroma", "documents"],
        ["policy.yaml", "--chroma", "missing", "--state", "s.sqlite"],
        ["policy.yaml", "--chroma", "documents", "--state", "s.sqlite"],
    ],
    "eval": [
        ["policy.yaml"],
        ["missing.yaml", "articles.json"],
        ["policy.yaml", "missing.json"],
        ["policy.yaml", "documents"],
        ["policy.yaml", "binary"],
        ["policy.yaml", "empty.jsonl"],
        ["policy.yaml", "chunks.jsonl"],
        ["policy.yaml", "chunks.jsonl", "--llm", "other"],
        ["policy.yaml", "chunks.jsonl", "--fail-under", "privacy"],
    ],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "policy.yaml": "constraints:\n- Remove names of witnesses\n",
        "list.yaml": "- Remove names\n- 5\n",
        "broken.yaml": "constraints: [\n",
        "key.yaml": "constrants: []\n",
        "sealed.yaml": "constraints: []\n",
        "chunks.jsonl": CHUNK,
        "empty.jsonl": "",
        "started/policy.yaml": "constraints: []\n",
        "pseudonym.yaml": "linkage: {replace: pseudonym}\n",
        "pseudonym.yaml.plan": "no plan",
        "rewrite.yaml": "linkage: {replace: rewrite}\n",
    }
    (tmp_path / "documents").mkdir()
    (tmp_path / "started").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    opened = Path.open

    def denied(self: Path, *args: object, **given: object) -> object:
        if self.name == "sealed.yaml":  # root may read everything
            raise PermissionError(13, "no permission")
        return opened(self, *args, **given)

    monkeypatch.setattr(Path, "open", denied)
    return tmp_path


@pytest.mark.parametrize("command", WRONG)
def test_a_wrong_call(folder, monkeypatch, capfd, command):
    """Says what is wrong, and leaves the folder as it was."""
    before = contents(folder)
    for arguments in WRONG[command]:
        monkeypatch.setattr("sys.argv", ["sdrag", command, *arguments])
        with pytest.raises(SystemExit) as ended:
            main()

        error = capfd.readouterr().err
        assert (arguments, ended.value.code) == (arguments, 2), error
        assert error.strip(), arguments
        assert "Traceback" not in error, arguments
        assert contents(folder) == before, arguments


def contents(folder: Path) -> dict[str, bytes]:
    return {
        os.path.relpath(path, folder): _read(path) if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


def _read(path: Path) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - `Path.open` is what is denied
        return file.read()
