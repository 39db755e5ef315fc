"""
Kilobytes a second: locating what constraints withhold, as at ingest.

    python benchmarks/locating.py

Documents of five chunks of 1,000 characters are cut from the packaged articles and
from those of benchmarks/articles; the constraints are those of the packaged ones.
It also prints where the time goes: to detectors, to the scorer, to the rest.
Speed is that of the machine as it is busy; the shares tell more.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared")]

from sdrag.disclosure import local  # noqa: E402 -- the path comes first
from sdrag.disclosure.local import LocalLocator  # noqa: E402
from sdrag.effects.runner import PortRunner, Ports  # noqa: E402
from sdrag.effects.steps import run  # noqa: E402
from sdrag.vocabulary import Constraint, Passage  # noqa: E402

PACKAGED = ROOT / "shared" / "sdrag" / "evaluation" / "articles"
OTHERS = ROOT / "benchmarks" / "articles"
CHUNKS, SIZE = 5, 1000


def read(folder: Path) -> list[dict[str, Any]]:
    """Read the articles of a folder, and of those in it."""
    return [json.loads(path.read_text()) for path in sorted(folder.rglob("*.json"))]


def corpus(documents: int) -> list[Passage]:
    """Cut the articles, end to end, into documents of chunks."""
    articles = [*read(PACKAGED), *read(OTHERS)]
    whole = "\n\n".join(article["article_text"] for article in articles)
    chunks = [whole[at : at + SIZE].strip() for at in range(0, len(whole), SIZE)]
    return [
        Passage(str(number), text, document_id=str(number // CHUNKS))
        for number, text in enumerate(chunks[: documents * CHUNKS])
    ]


def rules(count: int) -> list[Constraint]:
    """Choose constraints evenly from the packaged articles."""
    texts = [t for one in read(PACKAGED) for t in one["constraint_to_witness_words"]]
    chosen = [texts[number * len(texts) // count] for number in range(count)]
    return [Constraint(f"c{number}", text) for number, text in enumerate(chosen)]


@contextmanager
def timed(places: Sequence[tuple[Any, str]]) -> Iterator[dict[str, float]]:
    """Add up what steps of the locator take, by their names."""
    took = {name: 0.0 for _, name in places}
    originals = [(module, name, getattr(module, name)) for module, name in places]

    def watched(name: str, steps: Any) -> Any:
        def watching(*given: Any) -> Any:
            started = perf_counter()
            result = yield from steps(*given)
            took[name] += perf_counter() - started
            return result

        return watching

    for module, name, steps in originals:
        setattr(module, name, watched(name, steps))
    try:
        yield took
    finally:
        for module, name, steps in originals:
            setattr(module, name, steps)


def locate(passages: Sequence[Passage], asked: Sequence[Constraint]) -> None:
    """Print how fast it goes, and where the time goes."""
    runner = PortRunner(Ports())
    run(LocalLocator().locate(passages[:CHUNKS], asked), runner)
    with timed([(local, "document_mentions"), (local, "scored")]) as took:
        started = perf_counter()
        run(LocalLocator().locate(passages, asked), runner)
        whole = perf_counter() - started
    length = sum(len(passage.text) for passage in passages)
    detecting, scoring = took["document_mentions"] / whole, took["scored"] / whole
    print(
        f"{len(asked):4} constraints: {length / 1000 / whole:5.1f} KB/s; detection "
        f"{detecting:.0%}, scoring {scoring:.0%}, rest {1 - detecting - scoring:.0%}"
    )


def main() -> None:
    """Measure with few constraints and with many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=30)
    given = parser.parse_args()
    for count in (20, 60, 100):
        locate(corpus(given.documents), rules(count))


if __name__ == "__main__":
    main()
