"""Every example runs offline, says something, and shows no witness."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from .support.openai_server import openai_server

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(
    path for path in EXAMPLES.glob("*/*.py") if path.name != "collection.py"
)
NEEDS = {
    "langchain": ("langchain_core", "langchain_classic"),
    "llamaindex": ("llama_index.core",),
    "presidio": ("presidio_analyzer",),
}


@pytest.fixture(autouse=True)
def model(monkeypatch):
    """A server on loopback stands for the model of the examples that need one."""
    with openai_server("Anna Karlsson") as wire:
        monkeypatch.setenv("MODEL_URL", wire.url)
        yield


@pytest.mark.parametrize(
    "script", SCRIPTS, ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_example(script, monkeypatch, capsys):
    """Run as a user runs it, from its folder."""
    for module in (*NEEDS[script.parent.name], *NEEDS.get(script.stem, ())):
        pytest.importorskip(module)
    monkeypatch.syspath_prepend(str(script.parent))
    monkeypatch.delitem(sys.modules, "collection", raising=False)

    runpy.run_path(str(script), run_name="__main__")

    monkeypatch.delitem(sys.modules, "collection", raising=False)
    printed = capsys.readouterr().out
    assert "men" in printed or "crates" in printed
    assert "Karlsson" not in printed
    assert "kestrel" not in printed


def test_there_are_examples():
    assert len(SCRIPTS) > 15
