"""In processes or on Ray: the result of one process, whoever is killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sdrag import ingest
from sdrag.detectors.local import LocalDetector
from sdrag.effects.progress import batched
from sdrag.effects.steps import Outcome, Steps
from sdrag.errors import HostError, UsageError
from sdrag.ingest import bind_corpus
from sdrag.linkage import Masked, fit
from sdrag.linkage.masking import Passes
from sdrag.parallel import Pool, Processes, RayPool
from sdrag.pipeline import Engine, bind
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.studio.cli.app import app
from sdrag.vocabulary import Mention, Passage

KEY = b"0123456789abcdef"
PEOPLE = ("Jane Doe", "Mark Lindqvist", "Anna Kowalska", "Peter Hughes", "Tom Baker")
BOUND_BY_MEANING = {
    "constraints": [
        {"text": "Hide telephone numbers"},
        {"text": "Hide case numbers", "always": True},
        {"text": "Hide dates"},
    ]
}
"""Fills every table of a state: two rules are bound to the chunks near to them."""


@pytest.fixture(params=["processes", pytest.param("ray", marks=pytest.mark.slow)])
def pool(request: pytest.FixtureRequest) -> Pool:
    if request.param == "processes":
        return Processes(2)
    found: RayPool = request.getfixturevalue("ray_pool")
    return found


def corpus(count: int = 130) -> list[Passage]:
    draw = random.Random(1)
    return [
        Passage(
            f"{draw.choice(PEOPLE).lower().replace(' ', '_')}-{number}.txt",
            f"{draw.choice(PEOPLE)} met {draw.choice(PEOPLE)} about case "
            f"KV-{draw.randrange(20) + 7719200} on {draw.randrange(28) + 1} May 2021.",
            {"source": f"{draw.choice(PEOPLE)} {number // 4}", "n": [1, {"a": (1,)}]},
        )
        for number in range(count)
    ]


def contents(masked: Masked) -> Any:
    found = [(d.id, d.text, dict(d.metadata), d.document_id) for d in masked.documents]
    return found, masked.decisions, masked.plan.masked.tolist()


@dataclass(frozen=True)
class Dying:
    """Kills its worker once, in the middle of the corpus."""

    marker: Path

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        if any("KV-7719203" in text for text in texts) and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return (yield from LocalDetector().detect(texts))


def test_masking_is_the_same_whoever_is_killed(pool: Pool, tmp_path: Path) -> None:
    """Documents, decisions and plan; Ray starts a worker again that died."""
    documents, told = corpus(), []
    dying = Dying(tmp_path / "killed")
    is_killed = isinstance(pool, RayPool)  # else that is an error, see below
    detector = dying if is_killed else LocalDetector()
    passes = Passes(pool, lambda *args: told.append(args))
    there = fit(documents, None, detector, key=KEY, passes=passes).masked
    assert dying.marker.exists() is is_killed
    here = fit(documents, None, LocalDetector(), key=KEY).masked
    assert contents(here) == contents(there)
    assert told[-1] == ("Masking", 130, 130)
    assert {name for name, *_ in told} == {"Detecting", "Looking again", "Masking"}


def test_a_process_that_dies_is_an_error(tmp_path: Path) -> None:
    """Nothing is returned that lacks a document."""
    dying = Dying(tmp_path / "killed")
    with pytest.raises(HostError, match="was lost"):
        fit(corpus(), None, dying, key=KEY, passes=Passes(Processes(2)))


def bind_here(documents: list[Passage], policy: Policy, folder: Path) -> None:
    """Bind as `sdrag bind` does, some at a time."""
    engine = Engine(policy, state=folder / "state.sqlite", stage="bind")
    for some in batched(documents, 60):
        engine.run(bind(some, engine))


def rows(path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield all rows of all tables, in an order of their own."""
    opened = sqlite3.connect(path)
    tables = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    for (table,) in sorted(tables.fetchall()):
        found = opened.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 -- ours
        yield (table, *sorted(found, key=repr))
    opened.close()


def test_binding_writes_the_same_rows(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state is equal row for row; bound again, nothing is read."""
    monkeypatch.setattr(ingest, "AT_ONCE", 60)
    policy, documents = Policy.read(BOUND_BY_MEANING), corpus(90)
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    open_state(here / "state.sqlite")
    shutil.copytree(here, there)  # the same key, so the rows can be compared
    bind_here(documents, policy, here)
    state, told = there / "state.sqlite", []
    done = bind_corpus(documents, policy, state, pool, told.append)
    assert list(rows(here / "state.sqlite")) == list(rows(state))
    assert (done.passages, told) == (90, [60, 90])
    assert bind_corpus(documents, policy, state, pool).read == 0


def test_no_text_reaches_logs_or_errors(pool: Pool) -> None:
    """What Ray writes to its session's logs holds no text, and no error does."""
    who = "Zebulon Quartermaine"
    documents = [Passage(f"d{n}", f"Mr. {who} called {n} times.") for n in range(70)]
    if isinstance(pool, RayPool):
        fit(documents, None, LocalDetector(), key=KEY, passes=Passes(pool))
    with pytest.raises(HostError, match="failed with ValueError") as caught:
        list(pool.map(int, (who,), [who, who]))  # what `int` raises quotes
    assert who not in f"{caught.value!r}{caught.value.__cause__!r}"
    if isinstance(pool, RayPool):
        time.sleep(1)  # logs are written by other processes
        session = Path(pool._ray._private.worker._global_node.get_session_dir_path())
        logs = [path for path in (session / "logs").rglob("*") if path.is_file()]
        assert logs
        assert not [path for path in logs if who.encode() in path.read_bytes()]


def test_wrong_calls(tmp_path: Path) -> None:
    """A pool that is not open, a state that no worker sees, a model."""
    with pytest.raises(UsageError, match="in memory"):
        bind_corpus([], ["Hide dates"], None, Processes(2))
    with pytest.raises(UsageError, match="not open"):
        next(RayPool().map(int, ("",), [""]))
    given = ["mask", str(tmp_path), str(tmp_path / "o"), "--engine", "ray"]
    result = CliRunner().invoke(app, [*given, "--llm", "langchain:openai:x"])
    assert isinstance(result.exception, UsageError)
