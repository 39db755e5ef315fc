"""
One plan of a generated corpus, in a process of its own that tells its memory.

    python -m benchmarks.linkage_experiments.planned 1_000_000

Ten mentions a document, by Zipf's law: see `generated.zipf_corpus`. Printed is one JSON
object: documents, mentions, links, seconds of one core, and megabytes at the most.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.linkage_experiments.generated import zipf_corpus
from sdrag.linkage.planning import plan_masking
from sdrag.policy import LinkageSection

__all__ = ["Planned", "planned"]

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Planned:
    """
    One plan.

    Args:
        documents: How many.
        rows: Mentions; an entity counts once a document.
        edges: Linked pairs of documents.
        seconds: Of one core.
        peak: Megabytes of the process.
    """

    documents: int
    rows: int
    edges: int
    seconds: float
    peak: int


def planned(documents: int) -> Planned:
    """Plan in a new process, so that nothing else counts as its memory."""
    printed = subprocess.run(  # noqa: S603 -- this module
        [sys.executable, "-m", __name__, str(documents)],
        check=True,
        cwd=_ROOT,
        env={"PYTHONPATH": f"{_ROOT / 'shared'}:{_ROOT}"},
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return Planned(**json.loads(printed))


def _plan(documents: int) -> Planned:
    corpus = zipf_corpus(documents)
    began = time.process_time()
    found = plan_masking(corpus, LinkageSection())
    seconds = time.process_time() - began
    return Planned(documents, len(corpus.entity), found.links_before, seconds, _peak())


def _peak() -> int:
    """Return megabytes. Linux's own count of a process includes who started it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(kilobytes) // 1024


if __name__ == "__main__":
    print(json.dumps(asdict(_plan(int(sys.argv[1])))))
