"""A run on Ray whose caller was killed goes on where it was, to the same result."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.ray_engine import FORMS_ONLY, rows
from sdrag.distributed import bind_corpus
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage
from tests.distributed.corpora import corpus

pytestmark = pytest.mark.slow

COUNT = 2500
KILLED_AFTER = """
import os, signal, sys
from {module} import {name} as counted
at = 0
def killing(*given, **named):
    global at
    at += 1
    if at == {after}:
        os.kill(os.getpid(), signal.SIGKILL)
    return counted(*given, **named)
import {module} as patched
patched.{name} = killing
{main}
"""
BIND = """
from pathlib import Path
from sdrag.distributed import bind_corpus
from tests.distributed.corpora import corpus
from benchmarks.ray_engine import FORMS_ONLY
bind_corpus(lambda: corpus({count}), FORMS_ONLY, Path({state!r}))
"""
MASK = "from sdrag.cli import main\nmain()"


def killed(program: str, *arguments: object) -> None:
    """Run a program that kills itself; its workers are killed with it."""
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        start_new_session=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    try:
        assert process.wait(300) == -signal.SIGKILL
    finally:
        os.killpg(process.pid, signal.SIGKILL)


def sdrag(*arguments: object) -> dict[str, object]:
    """Return what a command says in JSON."""
    ended = subprocess.run(
        [sys.executable, "-c", MASK, *map(str, arguments), "--json"],
        capture_output=True,
        check=True,
        text=True,
        timeout=300,
    )
    said: dict[str, object] = json.loads(ended.stdout.splitlines()[-1])
    return said


@pytest.mark.usefixtures("ray_package")
def test_masking_goes_on_after_its_caller_was_killed(tmp_path: Path) -> None:
    """What was detected is not detected again; the file is that of one process."""
    lines = [json.dumps({"id": d.id, "text": d.text}) + "\n" for d in corpus(COUNT)]
    (tmp_path / "in.jsonl").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "key").write_text("0123456789abcdef0123456789abcdef")
    given = ("--key-file", tmp_path / "key")
    ray, out = ("--engine", "ray"), tmp_path / "out.jsonl"
    program = KILLED_AFTER.format(
        module="sdrag.linkage.checkpoint", name="_plain", after=COUNT // 2, main=MASK
    )
    killed(program, "mask", tmp_path / "in.jsonl", out, *given, *ray)
    kept = (tmp_path / "out.jsonl.progress").read_text(encoding="utf-8")
    assert not out.exists()
    assert COUNT // 4 < len(kept.splitlines()) < COUNT
    sdrag("mask", tmp_path / "in.jsonl", out, *given, *ray)
    whole = ("--plan", tmp_path / "whole.plan")
    sdrag("mask", tmp_path / "in.jsonl", tmp_path / "whole.jsonl", *given, *whole)
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.usefixtures("ray_package")
def test_binding_goes_on_after_its_caller_was_killed(tmp_path: Path) -> None:
    """Batches that are in the state are not read again; its rows are those of one."""
    documents: list[Passage] = corpus(COUNT)
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    open_state(one / "state.sqlite")
    shutil.copytree(one, other)
    state = other / "state.sqlite"
    program = KILLED_AFTER.format(
        module="sdrag.distributed.binding",
        name="bind",
        after=2,
        main=BIND.format(count=COUNT, state=str(state)),
    )
    killed(program)
    rules = Policy.read(FORMS_ONLY)
    again = bind_corpus(lambda: documents, rules, state)
    assert 0 < again.read <= COUNT - 1000
    bind_corpus(lambda: documents, rules, one / "state.sqlite")
    assert list(rows(one / "state.sqlite")) == list(rows(state))
