"""The packaged networks are loaded before somebody waits for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sdrag
from sdrag import requirements
from sdrag.errors import MissingExtraError


def test_all_that_a_question_needs_is_loaded():
    """In a fresh process, each network once."""
    pytest.importorskip("tokenizers")
    code = (
        "import sdrag; sdrag.warm_up(); sdrag.warm_up()\n"
        "from sdrag.embeddings import _load, network\n"
        "assert _load.cache_info().misses == 1\n"
        "assert network._load.cache_info().misses == 3\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(requirements, "installed", lambda: False)

    with pytest.raises(MissingExtraError, match=r"sdrag\[local\]"):
        sdrag.warm_up()
