"""Networks that are loaded before somebody waits for them."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

import sdrag
from sdrag import warming
from sdrag.errors import InternalError, MissingExtraError


@pytest.fixture(autouse=True)
def _cold(monkeypatch):
    monkeypatch.setattr(warming, "_warming", None)


def test_all_that_a_question_needs_is_loaded():
    """In a fresh process, and the caller's arguments are none."""
    pytest.importorskip("tokenizers")
    code = (
        "import sdrag; sdrag.warm_up(wait=True)\n"
        "from sdrag.embeddings import _load, network\n"
        "assert _load.cache_info().misses == 1\n"
        "assert network._load.cache_info().misses == 3\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_returns_at_once_and_loads_once_for_all_threads(monkeypatch):
    """Whoever waits, waits for the one loading."""
    monkeypatch.setattr(warming, "installed", lambda: True)
    loading, go_on, loads = Event(), Event(), []

    def load():
        loads.append(1)
        loading.set()
        assert go_on.wait(60)

    monkeypatch.setattr(warming, "_load", load)
    sdrag.warm_up()
    assert loading.wait(60)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(sdrag.warm_up, wait=True) for _ in range(4)]
        assert not any(one.done() for one in waiting)
        go_on.set()
        for one in waiting:
            one.result(60)

    sdrag.warm_up(wait=True)
    assert len(loads) == 1


def test_a_failure_is_told_to_who_waits_and_tried_again(monkeypatch):
    """The background says nothing, and remembers no failure."""
    monkeypatch.setattr(warming, "installed", lambda: True)
    outcomes = [InternalError("The scorer has no weights."), None]

    def load():
        if (failure := outcomes.pop(0)) is not None:
            raise failure

    monkeypatch.setattr(warming, "_load", load)

    with pytest.raises(InternalError, match="no weights"):
        sdrag.warm_up(wait=True)
    sdrag.warm_up(wait=True)
    assert not outcomes


@pytest.mark.parametrize("wait", [False, True])
def test_a_missing_extra_is_told_at_once(monkeypatch, wait):
    """It names the extra, and no thread is started."""
    monkeypatch.setattr(warming, "installed", lambda: False)

    with pytest.raises(MissingExtraError, match=r"sdrag\[local\]"):
        sdrag.warm_up(wait=wait)

    assert warming._warming is None
