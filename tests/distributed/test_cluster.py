"""A cluster that runs already: of two nodes, of which one is lost in the middle."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from sdrag.detectors.local import LocalDetector
from sdrag.distributed import RayOptions, mask_corpus
from sdrag.effects.steps import Outcome, Steps
from sdrag.linkage import mask_corpus as mask_here
from sdrag.vocabulary import Mention
from tests.distributed.corpora import KEY, corpus

pytestmark = pytest.mark.slow

NODE = {"num_cpus": 1}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster  # noqa: PLC0415 -- an extra

    started = Cluster(initialize_head=True, head_node_args=NODE)
    yield started
    started.shutdown()


@dataclass(frozen=True)
class Slow:
    """Takes its time, and tells that it has begun."""

    marker: Path

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        self.marker.touch()
        time.sleep(0.5)
        return (yield from LocalDetector().detect(texts))


def test_a_lost_node_loses_no_document(cluster: Any, tmp_path: Path) -> None:
    """Its work is done by the other one, and the result is that of one process."""
    documents, node = corpus(600), cluster.add_node(**NODE)
    slow = Slow(tmp_path / "begun")

    def lose() -> None:
        while not slow.marker.exists():
            time.sleep(0.05)
        time.sleep(1)
        cluster.remove_node(node, allow_graceful=False)

    losing = Thread(target=lose, daemon=True)
    losing.start()
    options = RayOptions(address=cluster.address)
    there = mask_corpus(documents, None, slow, key=KEY, options=options)
    losing.join(60)

    here = mask_here(documents, None, LocalDetector(), key=KEY)
    assert [d.text for d in there.documents] == [d.text for d in here.documents]
    assert there.decisions == here.decisions
