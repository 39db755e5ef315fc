"""
Ray against one process: the same result, and how long each took.

`python benchmarks/ray_engine.py mask 10000` masks generated documents of one line,
found by a pattern.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from sdrag.effects.steps import Outcome, Steps, try_each
from sdrag.linkage import fit
from sdrag.linkage.masking import Passes
from sdrag.parallel import RayPool
from sdrag.vocabulary import Mention, Passage, Span

KEY = b"a key for the benchmark only"
_PATTERN = re.compile(r"(?P<NAME>Person[A-Z]{4})|(?P<ID>KV-\d{7})")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_REST = (
    "What was agreed on is in the minutes of that day, with all that was handed over."
)


@dataclass(frozen=True, slots=True)
class PatternDetector:
    """Finds the people and the codes of the generated documents."""

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """Find the mentions in each text, as `Detector` says."""
        yield from ()
        return try_each(_found, texts)


def _found(text: str) -> tuple[Mention, ...]:
    return tuple(
        Mention(Span(*match.span()), str(match.lastgroup), 0.9)
        for match in _PATTERN.finditer(text)
    )


def corpus(count: int, seed: int = 1) -> list[Passage]:
    """Make documents of 200 characters: two people, a code, a number, an address."""
    draw = random.Random(seed)
    people = ["Person" + "".join(draw.choices(_LETTERS, k=4)) for _ in range(count)]
    return [
        Passage(
            f"d{number}",
            f"{draw.choice(people)} met {draw.choice(people)} about "
            f"KV-{draw.randrange(count):07d}; call 0171 {draw.randrange(10**7):07d} "
            f"or write to box{draw.randrange(count)}@example.org. {_REST}",
            {"source": f"file{number // 4}"},
        )
        for number in range(count)
    ]


def timed(name: str, work: Callable[[], Any], documents: int) -> Any:
    """Run it, print how long it took, and return its result."""
    start = perf_counter()
    result = work()
    took = perf_counter() - start
    print(f"{name:24} {took:8.1f} s {documents / took:10.0f} documents/s", flush=True)
    return result


def mask(documents: list[Passage], pool: RayPool) -> bool:
    """Mask here and on Ray; say whether both are the same."""
    detector, count = PatternDetector(), len(documents)
    here, there = (
        timed(
            f"mask, {name}",
            lambda passes=passes: (
                fit(documents, None, detector, key=KEY, passes=passes).masked
            ),
            count,
        )
        for name, passes in (("one process", None), ("Ray", Passes(pool)))
    )
    print(f"{int(here.plan.masked.sum())} masked, {len(here.plan.before)} links before")
    return (
        [_said(one) for one in here.documents]
        == [_said(one) for one in there.documents]
        and here.decisions == there.decisions
        and bool((here.plan.masked == there.plan.masked).all())
    )


def _said(document: Passage) -> tuple[Any, ...]:
    return document.id, document.text, dict(document.metadata), document.document_id


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("mask",))
    parser.add_argument("documents", type=int)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    with RayPool(given.workers) as pool:
        same = mask(corpus(given.documents), pool)
    print("equal" if same else "NOT EQUAL")
    raise SystemExit(not same)


if __name__ == "__main__":
    # Workers know this file by its name as a module.
    from benchmarks.ray_engine import main as run_main

    run_main()
