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
