"""
What a question costs: a wrapped retriever next to the bare one, in both frameworks.

Chroma on disk, chunks of 1,000 characters, ten of them a question, 100 constraints.
Cold questions are new and retrieve other chunks each time; warm ones were asked before.
Of an index that was never bound, every wrapper is a new one and has to locate all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.page.corpus import Drawn, MiniLM, chunks, located, policy, question
from benchmarks.page.hosts import FRAMEWORKS, Host
from benchmarks.page.sections import Cell, Figures
from benchmarks.page.timing import medians

__all__ = ["measure"]

Row = dict[str, Cell]
PACKAGES = ("langchain-core", "llama-index-core", "chromadb")


def measure(*, quick: bool) -> Figures:
    """Measure cold and warm questions."""
    count, rounds, unbound = (30, 5, 1) if quick else (2000, 60, 3)
    documents, rules = chunks(count), policy(100)
    state = located(documents, rules)
    rows: list[Row] = []
    for make in FRAMEWORKS:
        for embeddings in (MiniLM(), Drawn()):
            with tempfile.TemporaryDirectory() as folder:
                host = make(documents, embeddings, Path(folder))
                wrapped = host.wrap(policy=rules, state=state)
                if isinstance(embeddings, MiniLM):
                    rows += bound(host, wrapped, rounds)
                    rows.append(never_bound(host, rules, unbound))
                else:
                    row = compared(host, lambda _, held=wrapped: held, rounds)
                    rows.append(
                        said(host, "bound", "cold, its embedding costs nothing") | row
                    )
    cold = [float(row["times"]) for row in rows if row["question"] == "cold"]
    facts = {"cold": max(cold), "cold_langchain": cold[0], "cold_llamaindex": cold[1]}
    return Figures({"asked": rows}, facts, PACKAGES)


def bound(host: Host, wrapped: Any, rounds: int) -> Iterator[Row]:
    """Ask a bound index new questions, then one that was asked before."""
    row = compared(host, lambda _: wrapped, rounds)
    yield said(host, "bound", "cold") | row
    row = compared(host, lambda _: wrapped, rounds, asked=lambda _: question(0))
    yield said(host, "bound", "warm") | row


def never_bound(host: Host, rules: dict[str, Any], rounds: int) -> Row:
    """Ask an index of which nothing is known."""
    wrappers = [host.wrap(policy=rules) for _ in range(rounds + 1)]
    row = compared(host, lambda number: wrappers[number], rounds, warm=1)
    return said(host, "never bound", "first") | row


def compared(
    host: Host,
    wrapped: Callable[[int], Any],
    rounds: int,
    *,
    asked: Callable[[int], str] = question,
    warm: int = 1,
) -> Row:
    """Return the medians of both retrievers, asked the same questions in turn."""
    found = medians(
        {
            "bare": lambda number: host.ask(host.bare, asked(number)),
            "wrapped": lambda number: host.ask(wrapped(number), asked(number)),
        },
        rounds,
        warm=warm,
    )
    bare, ours = 1000 * found["bare"], 1000 * found["wrapped"]
    return {"bare, ms": bare, "wrapped, ms": ours, "times": ours / bare}


def said(host: Host, index: str, asked: str) -> Row:
    """Return the cells that say what is measured."""
    return {"framework": host.name, "index": index, "question": asked}
