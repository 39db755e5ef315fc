"""
Ray against one process: the same result, and how long each took.

`python benchmarks/ray_engine.py mask 100000` masks generated documents of one line,
found by a pattern. With `--detector local` the local detector reads them.
`python benchmarks/ray_engine.py bind 10000` binds a policy of types to them, and with
`--policy FILE` any other one.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from sdrag.detectors.local import LocalDetector
from sdrag.effects.progress import batched
from sdrag.effects.steps import Outcome, Steps, try_each
from sdrag.ingest import bind_corpus
from sdrag.linkage import fit
from sdrag.linkage.masking import Passes
from sdrag.parallel import RayPool
from sdrag.pipeline import Engine, bind
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Mention, Passage, Span

KEY = b"a key for the benchmark only"
FORMS_ONLY = {
    "constraints": [
        {"text": "Hide telephone numbers", "always": True},
        {"text": "Hide e-mail addresses", "always": True},
    ]
}
_PATTERN = re.compile(r"(?P<NAME>Person[A-Z]{4})|(?P<ID>KV-\d{7})")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_REST = (
    "What was agreed on is in the minutes of that day, with all that was handed over."
)
_AT_ONCE = 1000


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


def masked(documents: list[Passage], local: bool, pool: RayPool) -> bool:  # noqa: FBT001
    """Mask here and on Ray; say whether both are the same."""
    detector = LocalDetector() if local else PatternDetector()
    count = len(documents)
    here = timed(
        "mask, one process",
        lambda: fit(documents, None, detector, key=KEY).masked,
        count,
    )
    there = timed(
        "mask, Ray",
        lambda: fit(documents, None, detector, key=KEY, passes=Passes(pool)).masked,
        count,
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


def bound(documents: list[Passage], policy: Policy, pool: RayPool) -> bool:
    """Bind here and on Ray; say whether both states hold the same rows."""
    folder = Path(tempfile.mkdtemp())
    one, other = folder / "one", folder / "other"
    one.mkdir()
    open_state(one / "state.sqlite")
    shutil.copytree(one, other)  # the same key, so the rows can be compared
    count = len(documents)
    timed("bind, one process", lambda: bind_here(documents, policy, one), count)
    timed(
        "bind, Ray",
        lambda: bind_corpus(documents, policy, other / "state.sqlite", pool),
        count,
    )
    same = list(rows(one / "state.sqlite")) == list(rows(other / "state.sqlite"))
    shutil.rmtree(folder)
    return same


def bind_here(documents: list[Passage], policy: Policy, folder: Path) -> None:
    """Bind as `sdrag bind` does."""
    engine = Engine(policy, state=folder / "state.sqlite", stage="bind")
    for some in batched(documents, _AT_ONCE):
        engine.run(bind(some, engine))


def rows(path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield all rows of all tables, in an order of their own."""
    opened = sqlite3.connect(path)
    tables = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    for (table,) in sorted(tables.fetchall()):
        found = opened.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 -- ours
        yield (table, *sorted(found, key=repr))
    opened.close()


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("mask", "bind"))
    parser.add_argument("documents", type=int)
    parser.add_argument("--detector", choices=("pattern", "local"), default="pattern")
    parser.add_argument("--policy", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    documents = corpus(given.documents)
    with RayPool(given.workers) as pool:
        if given.what == "mask":
            same = masked(documents, given.detector == "local", pool)
        else:
            policy = Policy.read(given.policy or FORMS_ONLY)
            same = bound(documents, policy, pool)
    print("equal" if same else "NOT EQUAL")
    raise SystemExit(not same)


if __name__ == "__main__":
    # Workers know this file by its name as a module.
    from benchmarks.ray_engine import main as run_main

    run_main()
