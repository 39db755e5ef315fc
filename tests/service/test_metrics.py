"""What several processes of the example's service count together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_COUNTING = """
from rag_service.metrics import REQUESTS, RUNNING, SECONDS, exposition

REQUESTS.labels("/answer", "200").inc(3)
SECONDS.labels("/answer").observe(0.5)
RUNNING.inc(2)
print("counted", flush=True)
input()
print(exposition().decode(), flush=True)
input()
"""


def counting(folder):
    """Start a process that counts, waits, shows what it knows, and waits."""
    places = [ROOT / "shared", ROOT / "examples" / "service"]
    settings = {
        "PROMETHEUS_MULTIPROC_DIR": str(folder),
        "PYTHONPATH": os.pathsep.join(map(str, places)),
    }
    return subprocess.Popen(
        [sys.executable, "-c", _COUNTING],
        env=os.environ | settings,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_any_process_shows_the_counts_of_all(tmp_path):
    """Requests, seconds, and slots that are held are summed over two processes."""
    first, second = counting(tmp_path), counting(tmp_path)
    for process in (first, second):
        assert process.stdout.readline() == "counted\n"

    shown, _ = second.communicate("\n\n")
    first.communicate("\n\n")

    assert 'rag_requests_total{outcome="200",path="/answer"} 6.0' in shown
    assert 'rag_request_seconds_count{path="/answer"} 2.0' in shown
    assert 'rag_request_seconds_sum{path="/answer"} 1.0' in shown
    assert "rag_requests_running 4.0" in shown
