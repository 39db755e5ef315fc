"""`sdrag init`: what it writes works as it is."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from chromadb.api.client import SharedSystemClient
from typer.testing import CliRunner

from sdrag.studio.cli.app import app

runner = CliRunner()
SECRETS = ("Meyers", "7946", "May 1981")


def test_it_writes_what_its_last_lines_name(tmp_path: Path) -> None:
    """Every file that is named to be tried next exists."""
    result = runner.invoke(app, ["init", str(tmp_path / "harbour")])
    assert result.exit_code == 0, result.output
    for name in ("policy.yaml", "with_langchain.py", "with_llamaindex.py"):
        assert name in result.output.partition("Try next")[2]
        assert (tmp_path / "harbour" / name).is_file()
    assert list((tmp_path / "harbour" / "documents").iterdir())


@pytest.mark.parametrize("name", ["with_langchain.py", "with_llamaindex.py"])
def test_each_program_shows_the_document_without_its_secrets(
    tmp_path: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It prints the redacted document, and in another process what it has kept."""
    runner.invoke(app, ["init", str(tmp_path)])
    monkeypatch.chdir(tmp_path)
    SharedSystemClient.clear_system_cache()  # it knows a store by a relative path
    runpy.run_path(name, run_name="__main__")
    printed = capsys.readouterr().out
    again = subprocess.run(
        [sys.executable, name],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (tmp_path / "chroma" / "chroma.sqlite3").is_file()
    assert again.stdout == printed
    assert printed.count("the north quay") == 1
    assert not [secret for secret in SECRETS if secret in printed]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that exists stays, and nothing else is written."""
    (tmp_path / "policy.yaml").write_text("mine")
    result = runner.invoke(app, ["init", str(tmp_path)])
    assert result.exit_code != 0
    assert [path.name for path in tmp_path.iterdir()] == ["policy.yaml"]
    assert (tmp_path / "policy.yaml").read_text() == "mine"
