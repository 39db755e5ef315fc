"""Every command, called wrongly: exit status 2, a clear line, nothing half-written."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from sdrag.studio.cli import main

CHUNK = '{"id": "1", "text": "The quay opens at six."}\n'
CALLS = """
check
check --unknown
check --schema
check --schema other
check missing.yaml
check documents
check binary
check list.yaml
check broken.yaml
check key.yaml
check sealed.yaml
check policy.yaml --llm other
init started
init binary
init binary/inside
init NUL
init /proc/sdrag
preview policy.yaml
preview policy.yaml missing
preview missing.yaml chunks.jsonl
preview binary chunks.jsonl
preview policy.yaml chunks.jsonl --html documents
preview policy.yaml chunks.jsonl --html missing/p.html
preview policy.yaml chunks.jsonl --llm other
preview policy.yaml chunks.jsonl --text x
preview policy.yaml --text ' '
preview policy.yaml --text x --html p.html
preview policy.yaml --text x --llm other
mask started
mask missing out
mask binary out
mask documents out
mask started documents
mask started chunks.jsonl
mask started out.txt
mask started started/out
mask started binary/out
mask started missing/out
mask started /proc/out
mask chunks.jsonl out --policy missing.yaml
mask chunks.jsonl out --policy key.yaml
mask chunks.jsonl out --policy pseudonym.yaml
mask chunks.jsonl out --policy rewrite.yaml
mask chunks.jsonl out --key-file missing
mask chunks.jsonl out --key-file documents
mask chunks.jsonl out --key-file sealed.yaml
mask chunks.jsonl out --key-file empty.jsonl
mask chunks.jsonl out --key-file pseudonym.yaml
mask chunks.jsonl out --report documents
mask chunks.jsonl out --llm other
mask chunks.jsonl out --llm langchain:none:such
mask chunks.jsonl out --engine ray --llm langchain:openai:x
model-check
model-check missing.yaml articles.json
model-check policy.yaml missing.json
model-check policy.yaml chunks.jsonl
model-check policy.yaml
model-check policy.yaml --llm other
scan missing
scan documents
scan chunks.jsonl --policy key.yaml
scan chunks.jsonl --report documents
suggest
suggest missing
suggest documents
suggest chunks.jsonl --policy policy.yaml
suggest chunks.jsonl --policy missing.yaml --must-go Marsh
suggest chunks.jsonl --policy key.yaml --must-go Marsh
suggest chunks.jsonl --llm other
workbench missing.yaml
workbench policy.yaml --documents missing
workbench documents
workbench binary
workbench policy.yaml --port 70000
workbench policy.yaml --port many
workbench policy.yaml --host 192.0.2.1
audit missing.jsonl
audit documents
audit empty.jsonl
audit binary
bind policy.yaml
bind policy.yaml chunks.jsonl
bind missing.yaml chunks.jsonl --state s.sqlite
bind policy.yaml binary --state s.sqlite
bind policy.yaml empty.jsonl --state s.sqlite
bind policy.yaml key.yaml --state s.sqlite
bind policy.yaml chunks.jsonl --state documents
bind policy.yaml chunks.jsonl --state missing/s.sqlite
bind policy.yaml chunks.jsonl --state s.sqlite --llm other
bind policy.yaml chunks.jsonl --chroma documents
bind policy.yaml --chroma missing --state s.sqlite
bind policy.yaml --chroma documents --state s.sqlite
eval policy.yaml
eval missing.yaml articles.json
eval policy.yaml missing.json
eval policy.yaml documents
eval policy.yaml binary
eval policy.yaml empty.jsonl
eval policy.yaml chunks.jsonl
eval policy.yaml chunks.jsonl --llm other
eval policy.yaml chunks.jsonl --fail-under privacy
"""


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


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_a_wrong_call(folder, monkeypatch, capfd, call):
    """Says what is wrong, and leaves the folder as it was."""
    before = contents(folder)
    arguments = [part.replace("NUL", "\0") for part in shlex.split(call)]
    monkeypatch.setattr("sys.argv", ["sdrag", *arguments])

    with pytest.raises(SystemExit) as ended:
        main()

    error = capfd.readouterr().err
    assert ended.value.code == 2, error
    assert error.strip()
    assert "Traceback" not in error
    assert contents(folder) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {
        os.path.relpath(path, folder): _read(path) if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


def _read(path: Path) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - `Path.open` is what is denied
        return file.read()
