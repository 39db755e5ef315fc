"""
What a question's look-up in the state costs, in a file and in PostgreSQL.

    python benchmarks/state_lookups.py [--state URL]

Ten chunks are looked up at a time, of 2,000 that were bound; one constraint cuts each.
Printed are medians in milliseconds. The URL is that of a new state.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared")]

from sdrag.state import State, open_state  # noqa: E402 -- the path comes first
from sdrag.state.findings import Located  # noqa: E402
from sdrag.state.span_bytes import ClosedSpans  # noqa: E402
from sdrag.vocabulary import Span  # noqa: E402

CHUNKS, ASKED, ROUNDS = 2000, 10, 300
ENGINE = b"Lone"


def measured(state: State) -> float:
    """Write the findings, look some up again and again, and return the median."""
    rule = b"r" * 16
    spans = ClosedSpans.of({rule: [Span(3, 9), Span(20, 31)]}, "x" * 1000)
    keys = [
        state.keys.text(state.keys.document(None, str(n // 10)), "text", str(n))
        for n in range(CHUNKS)
    ]
    rows = [Located(key, ENGINE, (rule,), spans, 0) for key in keys]
    state.findings.write(rows, whole=True)
    rng, times = random.Random(7), []
    for _ in range(ROUNDS):
        asked = rng.sample(keys, ASKED)
        start = perf_counter()
        known, _ = state.findings.read(asked, ENGINE)
        times.append(1000 * (perf_counter() - start))
        assert len(known) == ASKED
    return median(times)


def main() -> None:
    """Measure a file, and the URL if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", help="the URL of a new state in PostgreSQL")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"file: {measured(open_state(Path(folder, 'state.db'))):.2f} ms")
    if given.state:
        print(f"PostgreSQL: {measured(open_state(given.state)):.2f} ms")


if __name__ == "__main__":
    main()
