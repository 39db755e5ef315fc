"""The notebooks run from top to bottom, offline, and print what they show."""

from __future__ import annotations

import re

import nbformat
import pytest

from benchmarks.tools.notebooks import FOLDER, run_all

NAMES = sorted(path.name for path in FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return run_all(tmp_path_factory.mktemp("notebooks"))


def shown(notebook):
    """Return what each cell shows: its text, and its HTML."""
    return [
        [output.get("text") or dict(output.get("data", {})) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_what_it_prints(name, ran):
    """`python benchmarks/tools/notebooks.py` runs them and keeps the output."""
    kept = nbformat.read(FOLDER / name, as_version=4)
    nbformat.validate(kept)

    assert shown(kept) == shown(ran[name])


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_names_no_machine(name):
    """No warning, no time, and no path of whoever ran it."""
    text = (FOLDER / name).read_text(encoding="utf-8")

    assert '"stderr"' not in text
    assert "iopub" not in text
    assert not re.search(r"/(?:home|root|tmp|Users|work)/", text)


def test_colour_is_kept():
    """The notebooks on policies show redactions as coloured HTML."""
    for name in ("policy_langchain.ipynb", "policy_llamaindex.ipynb"):
        text = (FOLDER / name).read_text(encoding="utf-8")
        assert text.count('"text/html"') == 2


def test_both_frameworks_have_the_same_notebooks():
    """Two each, under the same names; and one on masking, which knows no framework."""
    kinds = {name.partition("_")[0] for name in NAMES if name.endswith("chain.ipynb")}

    assert kinds == {"protect", "policy"}
    assert kinds == {name.partition("_")[0] for name in NAMES if "llamaindex" in name}
    assert "mask_a_corpus.ipynb" in NAMES
