"""On Ray: the result of one process, whatever the blocks, and whoever is killed."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ray_engine import bind_here, rows
from sdrag.detectors.local import LocalDetector
from sdrag.distributed import RayOptions, bind_corpus, mask_corpus
from sdrag.effects.steps import Outcome, Steps
from sdrag.errors import HostError
from sdrag.linkage import mask_corpus as mask_here
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Mention, Passage
from tests.distributed.corpora import KEY, corpus

BOUND_BY_MEANING = {
    "constraints": [
        {"text": "Hide telephone numbers"},
        {"text": "Hide case numbers", "always": True},
        {"text": "Hide dates"},
    ]
}
"""Fills every table of a state: two rules are bound to the chunks near to them."""

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("ray_here")]


def said(masked: Any) -> Any:
    found = [(d.id, d.text, dict(d.metadata), d.document_id) for d in masked.documents]
    return found, masked.decisions, masked.plan.masked.tolist()


@pytest.mark.parametrize("blocks", [1, 3, 7])
def test_masking_is_the_same_in_any_number_of_blocks(blocks: int) -> None:
    """Documents, decisions and plan equal those of one process."""
    documents = corpus()
    here = mask_here(documents, None, LocalDetector(), key=KEY)
    there = mask_corpus(documents, key=KEY, options=RayOptions(2, blocks=blocks))
    assert said(here) == said(there)


def test_binding_writes_the_same_rows(tmp_path: Path) -> None:
    """
    The state is equal row for row; bound again, nothing is read.

    The states have one key. Under another one the number of rows in `ruleset` may
    differ in one process, too: two of its lists are one where the order of the keyed
    rules is that of the policy.
    """
    policy, documents = Policy.read(BOUND_BY_MEANING), corpus(1100)
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    open_state(one / "state.sqlite")
    shutil.copytree(one, other)
    bind_here(documents, policy, one)
    state = other / "state.sqlite"
    bind_corpus(lambda: documents, policy, state)
    assert list(rows(one / "state.sqlite")) == list(rows(state))
    assert bind_corpus(lambda: documents, policy, state).read == 0


@dataclass(frozen=True)
class Dying:
    """Kills its worker once, in the middle of the corpus."""

    marker: Path

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        if any("KV-7719203" in text for text in texts) and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return (yield from LocalDetector().detect(texts))


def test_a_killed_worker_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Ray puts another one in its place, and the result is the same."""
    documents = corpus()
    here = mask_here(documents, None, LocalDetector(), key=KEY)
    dying = Dying(tmp_path / "killed")
    there = mask_corpus(documents, None, dying, key=KEY, options=RayOptions(2))
    assert dying.marker.exists()
    assert said(here) == said(there)


@dataclass(frozen=True)
class Quoting:
    """Fails with the text in its message."""

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        yield from ()
        raise ValueError(texts[0])


def test_no_text_reaches_logs_or_errors() -> None:
    """What Ray writes to its session's logs holds no text, and no error does."""
    ray = pytest.importorskip("ray")
    who = "Zebulon Quartermaine"
    documents = [Passage(f"d{n}", f"Mr. {who} called {n} times.") for n in range(70)]
    mask_corpus(documents, key=KEY)
    with pytest.raises(HostError) as caught:
        mask_corpus(documents, None, Quoting(), key=KEY)
    assert who not in str(caught.value)
    time.sleep(1)  # logs are written by other processes
    session = Path(ray._private.worker._global_node.get_session_dir_path())
    logs = [path for path in (session / "logs").rglob("*") if path.is_file()]
    assert logs
    assert not [path for path in logs if who.encode() in path.read_bytes()]
