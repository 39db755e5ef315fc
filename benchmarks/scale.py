"""
What a billion documents and ten thousand questions a second would take.

    python benchmarks/scale.py
    python benchmarks/scale.py --documents 10_000_000 --questions 500
    python benchmarks/scale.py plan 10_000_000      one plan, with its memory

Constants are measured here, on one core, with the code that would run: reading with
rules and with the networks, planning on generated corpora of several sizes, applying a
plan, what a state weighs, and what a wrapper adds to a question. The rest is
multiplication, which is printed after the constants. Nothing is assumed about a
cluster but that work is spread evenly: read the figures as lower bounds.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared"), str(ROOT / "benchmarks")]

import locating  # noqa: E402 -- the path comes first
import numpy as np  # noqa: E402

from benchmarks.linkage_experiments.planned import Planned, planned  # noqa: E402
from benchmarks.page import corpus  # noqa: E402
from benchmarks.page.hosts import langchain_host  # noqa: E402
from benchmarks.page.labelled import labelled_text  # noqa: E402
from sdrag.detectors.local import mentions  # noqa: E402
from sdrag.disclosure.local import LocalLocator  # noqa: E402
from sdrag.effects.runner import PortRunner, Ports  # noqa: E402
from sdrag.effects.steps import run  # noqa: E402
from sdrag.embeddings import embed_texts  # noqa: E402
from sdrag.linkage.replacing import Masker  # noqa: E402
from sdrag.vocabulary import Constraint, Entity  # noqa: E402

DOCUMENT = 2000
"""Characters of a document, and of a chunk."""
MENTIONS = 10
"""Mentions of a document."""
ROW = 16 + 8 + 4
"""Bytes of a mention on its way: keyed entity, document, relevance."""
FORMS = ("Hide e-mail addresses", "Hide phone numbers", "Hide dates", "Hide IBANs")
DAY = 24 * 60 * 60
SIZES = (30_000, 100_000, 300_000)


@dataclass(frozen=True, slots=True)
class Measured:
    """
    The constants, each of one core.

    Args:
        detecting: Seconds a document, the rules of the detector.
        forms: Seconds a document, locating constraints on types with a form.
        meaning: Seconds a document, locating twenty constraints with the networks.
        embedding: Seconds a document.
        applying: Seconds a document, replacing ten thousand forms.
        state: Bytes a chunk, a hundred constraints.
        question: Processor seconds that the wrapper adds to a question.
        plans: By size.
    """

    detecting: float
    forms: float
    meaning: float
    embedding: float
    applying: float
    state: float
    question: float
    plans: tuple[Planned, ...]


def measure(sizes: Sequence[int]) -> Measured:
    """Measure every constant."""
    text, _ = labelled_text(DOCUMENT)
    return Measured(
        detecting=seconds(lambda: [mentions(text) for _ in range(100)]) / 100,
        forms=locate([Constraint(f"c{n}", t) for n, t in enumerate(FORMS)]),
        meaning=locate(locating.rules(20)),
        embedding=embed(),
        applying=apply(text),
        state=weigh(),
        question=ask(),
        plans=tuple(planned(size) for size in sizes),
    )


def seconds(work: Callable[[], Any]) -> float:
    """Return the processor seconds of some work, done once before."""
    work()
    began = time.process_time()
    work()
    return time.process_time() - began


def locate(rules: Sequence[Constraint], documents: int = 4) -> float:
    """Return the seconds that locating takes, a document."""
    passages = locating.corpus(documents)
    size = sum(len(passage.text) for passage in passages) / DOCUMENT
    runner = PortRunner(Ports())
    return seconds(lambda: run(LocalLocator().locate(passages, rules), runner)) / size


def embed(count: int = 32) -> float:
    """Return the seconds that the packaged model takes to embed a document's chunks."""
    chunks = [chunk.page_content for chunk in corpus.chunks(2 * count, DOCUMENT // 2)]
    embed_texts(chunks[:1])
    began = time.process_time()
    embed_texts(chunks)
    return (time.process_time() - began) / count


def apply(text: str, forms: int = 10_000, count: int = 500) -> float:
    """Return the seconds that replacing forms takes, a document."""
    masker = Masker(
        [Entity(f"e{n}", "NAME", (f"Name{n} Other{n}",)) for n in range(forms)]
    )
    return seconds(lambda: [masker.replace(text) for _ in range(count)]) / count


def weigh(count: int = 2000) -> float:
    """Return what a state weighs, a chunk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "state.sqlite")
        corpus.located(corpus.chunks(count), corpus.policy(100), path)
        return sum(file.stat().st_size for file in path.parent.iterdir()) / count


def ask(count: int = 1000, questions: int = 200) -> float:
    """Return the processor seconds that a wrapper adds to a question on bound text."""
    documents, rules = corpus.chunks(count), corpus.policy(100)
    with tempfile.TemporaryDirectory() as folder:
        host = langchain_host(documents, corpus.Drawn(), Path(folder, "chroma"))
        state = corpus.located(documents, rules, Path(folder, "state.sqlite"))
        wrapped = host.wrap(policy=rules, state=state)
        asked = list(map(corpus.question, range(questions)))
        plain, ours = (
            seconds(lambda r=retriever: [host.ask(r, text) for text in asked])
            for retriever in (host.bare, wrapped)
        )
    return (ours - plain) / questions


def slope(plans: Sequence[Planned], value: Callable[[Planned], float]) -> float:
    """Return the exponent of a figure against the number of documents."""
    sizes = [math.log(one.documents) for one in plans]
    return float(np.polyfit(sizes, [math.log(value(one)) for one in plans], 1)[0])


def extended(
    plans: Sequence[Planned], value: Callable[[Planned], float], documents: int
) -> float:
    """Return a figure at another size, along the exponent."""
    last = plans[-1]
    growth = (documents / last.documents) ** slope(plans, value)
    return float(value(last) * growth)


def memory_of(plans: Sequence[Planned], documents: int) -> float:
    """Return megabytes at another size, as they grew between the last two sizes."""
    before, last = plans[-2:]
    each = (last.peak - before.peak) / (last.documents - before.documents)
    return last.peak + each * (documents - last.documents)


def constants(found: Measured) -> None:
    """Print what was measured."""
    print("| one core | figure |\n|---|---|")
    for name, value in (
        ("detect by rules", found.detecting),
        ("locate types with a form", found.forms),
        ("locate 20 constraints with the networks", found.meaning),
        ("embed", found.embedding),
        ("apply a plan", found.applying),
    ):
        print(f"| {name}, 2,000 characters | {1000 * value:.2f} ms |")
    print(f"| state, a chunk of 1,000 characters | {found.state:.0f} bytes |")
    print(f"| added to a question on bound text | {1000 * found.question:.2f} ms |")
    print("\n| documents | mentions | links | plan, s | memory, MB |")
    print("|---|---|---|---|---|")
    for one in found.plans:
        print(
            f"| {one.documents:,} | {one.rows:,} | {one.edges:,} | {one.seconds:.0f} |"
            f" {one.peak:,} |"
        )
    for name, value in (
        ("links", lambda one: one.edges),
        ("seconds", lambda one: one.seconds),
    ):
        print(f"exponent of {name} against documents: {slope(found.plans, value):.2f}")


def ingest(found: Measured, documents: int) -> None:
    """Print what it takes to mask, bind and plan so many documents."""
    print(f"\n| {documents:,} documents of {DOCUMENT:,} characters | takes |")
    print("|---|---|")
    for name, value in (
        ("detect by rules", found.detecting),
        ("locate types with a form", found.forms),
        ("locate 20 constraints with the networks", found.meaning),
        ("embed", found.embedding),
        ("apply the plan", found.applying),
    ):
        cores = documents * value / DAY
        print(f"| {name} | {cores:,.1f} cores for a day |")
    rows = documents * MENTIONS
    print(f"| mentions sent between workers, once | {rows * ROW / 1e9:,.1f} GB |")
    edges = extended(found.plans, lambda one: one.edges, documents)
    memory = memory_of(found.plans, documents) / 1000
    hours = extended(found.plans, lambda one: one.seconds, documents) / 3600
    print(f"| linked pairs | {edges:,.0f} |")
    print(f"| one plan on one core | {hours:,.1f} hours, {memory:,.0f} GB |")
    chunks = documents * DOCUMENT / 1000
    print(f"| state | {chunks * found.state / 1e9:,.0f} GB |")


def serve(found: Measured, questions: int) -> None:
    """Print what it takes to answer so many questions a second."""
    print(f"\n| {questions:,} questions a second | takes |\n|---|---|")
    print(f"| cores for the wrapper | {questions * found.question:,.0f} |")
    print("| calls of a model for bound text | 0 |")
    read = questions * 10 * found.state
    print(f"| read from the state, ten chunks a question | {read / 1e6:,.0f} MB/s |")
    unbound = questions * 10 * found.meaning / 2
    print(f"| cores where nothing is bound | {unbound:,.0f} |")


def main() -> None:
    """Measure, multiply and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("section", nargs="?", choices=["all", "plan"], default="all")
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--documents", type=int, default=1_000_000_000)
    parser.add_argument("--questions", type=int, default=10_000)
    given = parser.parse_args()
    if given.section == "plan":
        for size in given.sizes:
            print(planned(size), flush=True)
        return
    found = measure(given.sizes)
    constants(found)
    ingest(found, given.documents)
    serve(found, given.questions)


if __name__ == "__main__":
    main()
