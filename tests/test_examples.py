"""Every example runs offline, says something, and shows no witness."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from .support.openai_server import openai_server
from .support.openfga_server import STORE, openfga_server

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(
    path
    for path in EXAMPLES.glob("*/*.py")
    if path.name != "collection.py" and path.parent.name not in {"ci", "demo"}
)
NEEDS = {
    "langchain": ("langchain_classic", "langchain_chroma"),
    "llamaindex": ("llama_index.core", "llama_index.vector_stores.chroma"),
    "presidio": ("presidio_analyzer",),
    "research_agent": ("langgraph",),
}


@pytest.fixture(autouse=True)
def relations(monkeypatch):
    """A server on loopback stands for OpenFGA: the clerk reads the first note alone."""
    with openfga_server(("user:clerk-7", "reader", "document:note-1")) as served:
        monkeypatch.setenv("FGA_URL", served.url)
        monkeypatch.setenv("FGA_STORE_ID", STORE)
        yield served


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
    printed = _printed(script, monkeypatch, capsys)

    assert "men" in printed or "crates" in printed
    assert "Karlsson" not in printed
    assert "kestrel" not in printed


def test_an_ensemble_keeps_both_sources(monkeypatch, capsys):
    """Their texts are the same once the witnesses are removed."""
    printed = _printed(EXAMPLES / "langchain" / "ensemble.py", monkeypatch, capsys)

    assert "Lund" not in printed
    for source in ("log.txt", "diary.txt"):
        assert f"{source} The witness [person] saw two men unload" in printed


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_openfga_has_the_last_word(framework, relations, monkeypatch, capsys):
    """It is asked about each passage in its own words, and its no is a no."""
    script = EXAMPLES / framework / "authorize.py"

    printed = _printed(script, monkeypatch, capsys)

    assert sorted(relations.asked) == [
        ("user:clerk-7", "reader", f"document:note-{number}") for number in "12"
    ]
    assert "two men unload crates" in printed
    assert "harbour opens" not in printed


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_without_openfga_nothing_is_shown(framework, monkeypatch, capsys):
    """What cannot be checked is not allowed."""
    monkeypatch.setenv("FGA_STORE_ID", "another")
    script = EXAMPLES / framework / "authorize.py"

    printed = _printed(script, monkeypatch, capsys)

    assert "men" not in printed
    assert "harbour" not in printed


def _printed(script, monkeypatch, capsys):
    for module in (*NEEDS[script.parent.name], *NEEDS.get(script.stem, ())):
        pytest.importorskip(module)
    monkeypatch.syspath_prepend(str(script.parent))
    monkeypatch.delitem(sys.modules, "collection", raising=False)

    runpy.run_path(str(script), run_name="__main__")

    monkeypatch.delitem(sys.modules, "collection", raising=False)
    return capsys.readouterr().out


def test_a_chat_over_an_index_looks_as_its_host_made_it(monkeypatch, capsys):
    """The layout and the hidden keys of the host's nodes are kept."""
    script = EXAMPLES / "llamaindex" / "chat_over_index.py"

    printed = _printed(script, monkeypatch, capsys)

    assert "[source=log.txt]\nThe witness" in printed
    assert "[source=hours.txt]\nThe harbour opens" in printed
    assert "shelf" not in printed
    assert "B-1" not in printed
