"""
Measures the figures of docs/benchmarks.md and prints them as Markdown tables.

    python -m benchmarks.page                     # all sections, as `make bench` does
    python -m benchmarks.page question growth     # some of them
    python -m benchmarks.page --quick             # small sizes

A busy machine slows whoever runs at that moment. So those that are compared take turns,
round after round within one process, and medians are shown: read the ratios.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import count, cycle, islice
from math import log
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import yaml

from benchmarks.suites.json_files import load_articles

ROOT = Path(__file__).parents[1]
Row = dict[str, str | float]
Work = Callable[[int], object]


def take_turns(contenders: Mapping[str, Work], rounds: int) -> dict[str, float]:
    """Return the median seconds of each contender, after one round that warms up."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        order = list(contenders.items())
        for name, work in order if number % 2 else reversed(order):
            gc.collect()
            start = perf_counter()
            work(number)
            times[name].append(perf_counter() - start)
    return {name: median(taken[1:]) for name, taken in times.items()}


def compare(reference: str, contenders: Mapping[str, Work], rounds: int) -> list[Row]:
    """Return a row for each contender, as times of the reference."""
    times = take_turns(contenders, rounds)
    return [
        {"work": name, "ms": 1000 * taken, "times": taken / times[reference]}
        for name, taken in times.items()
    ]


def write_text(characters: int) -> str:
    """Return the articles, end to end, over and over."""
    texts = [str(article["article_text"]) for article in load_articles()]
    pieces = islice(cycle(texts), 1 + characters // 3000)
    return "\n\n".join(pieces)[:characters]


def write_policy(constraints: int) -> dict[str, Any]:
    """Return constraints of the articles."""
    texts = [t for a in load_articles() for t in a["constraint_to_witness_words"]]
    return {"when_not_understood": "withhold", "constraints": texts[:constraints]}


def measure_question(*, quick: bool) -> dict[str, list[Row]]:
    """Ask a wrapped retriever and the bare one, in LangChain over Chroma on disk."""
    from langchain_chroma import Chroma  # noqa: PLC0415 -- this section alone
    from langchain_core.documents import Document  # noqa: PLC0415 -- as above

    from langchain_sdrag import (  # noqa: PLC0415 -- as above
        ConstraintBinder,
        SelectiveDisclosureRetriever,
    )
    from langchain_sdrag.local_embeddings import LocalEmbeddings  # noqa: PLC0415

    chunks, rounds = (10, 3) if quick else (200, 40)
    policy, text = write_policy(20 if quick else 100), write_text(1000 * chunks)
    documents = [
        Document(
            text[1000 * number :][:1000],
            id=f"chunk-{number}",
            metadata={"source": f"text-{number // 10}"},
        )
        for number in range(chunks)
    ]
    numbers = count()

    def ask_anew(retriever: Any) -> object:
        return retriever.invoke(f"What was done on day {next(numbers)}?")

    with tempfile.TemporaryDirectory() as folder:
        store = Chroma("chunks", LocalEmbeddings(), f"{folder}/chroma")
        store.add_documents(documents)
        bare = store.as_retriever(search_kwargs={"k": 10})
        state = f"{folder}/state.sqlite"
        ConstraintBinder(policy=policy, state=state).transform_documents(documents)
        wrapped = SelectiveDisclosureRetriever(
            base_retriever=bare, policy=policy, state=state
        )
        unbound = [
            SelectiveDisclosureRetriever(base_retriever=bare, policy=policy)
            for _ in range(2 if quick else 4)
        ]
        cases: list[tuple[str, str, Work, Work, int]] = [
            (
                "bound",
                "cold",
                lambda _: ask_anew(bare),
                lambda _: ask_anew(wrapped),
                rounds,
            ),
            (
                "never bound",
                "first",
                lambda _: ask_anew(bare),
                lambda number: ask_anew(unbound[number]),
                len(unbound) - 1,
            ),
        ]
        rows = []
        for index, question, plain, ours, times in cases:
            taken = take_turns({"bare": plain, "wrapped": ours}, times)
            rows.append(
                {
                    "index": index,
                    "question": question,
                    "bare, ms": 1000 * taken["bare"],
                    "wrapped, ms": 1000 * taken["wrapped"],
                    "times": taken["wrapped"] / taken["bare"],
                }
            )
    return {"asked": rows}


def measure_checks(*, quick: bool) -> dict[str, list[Row]]:
    """Scan passages for injections, next to embedding them."""
    from sdrag.embeddings import embed_tokens  # noqa: PLC0415 -- as above
    from sdrag.guardrails.injection import scan_text  # noqa: PLC0415 -- this section alone
    from sdrag.policy import InjectionSection  # noqa: PLC0415 -- as above

    rounds = 3 if quick else 30
    patterns, whole = InjectionSection(local_classifier=False), InjectionSection()
    text = write_text(1000 * (rounds + 1))
    passages = [text[at : at + 1000] for at in range(0, len(text), 1000)]
    contenders: dict[str, Work] = {
        "embedding the passage": lambda n: embed_tokens([passages[n]]),
        "scanning it by patterns": lambda n: scan_text(passages[n], patterns),
        "scanning it with the classifier": lambda n: scan_text(passages[n], whole),
    }
    return {"scanned": compare("embedding the passage", contenders, rounds)}


IMPORTS = {
    "sdrag": ("import sdrag", "import pydantic, numpy"),
    "langchain_sdrag": (
        "from langchain_sdrag import SelectiveDisclosureRetriever",
        "from langchain_core.retrievers import BaseRetriever",
    ),
    "llamaindex_sdrag": (
        "from llamaindex_sdrag import SelectiveDisclosureRetriever",
        "from llama_index.core.retrievers import BaseRetriever",
    ),
}
"""What is imported, and what of others it cannot do without."""


def measure_starting(*, quick: bool) -> dict[str, list[Row]]:
    """Import in new processes, and read a policy next to its YAML."""
    from sdrag.policy import Policy  # noqa: PLC0415 -- this section alone

    rounds = 1 if quick else 7
    imported: list[Row] = []
    for package, (ours, theirs) in IMPORTS.items():
        codes = {"none": "pass", "theirs": theirs, "ours": ours}
        taken = take_turns(
            {name: lambda _, c=code: _run(c) for name, code in codes.items()}, rounds
        )
        needed, whole = taken["theirs"] - taken["none"], taken["ours"] - taken["none"]
        imported.append(
            {
                "package": f"`{package}`",
                "what it needs": f"`{theirs}`",
                "needed, ms": 1000 * needed,
                "whole, ms": 1000 * whole,
                "times": whole / needed,
            }
        )
    read: list[Row] = []
    for constraints in (3, 100):
        text = yaml.safe_dump(write_policy(constraints))
        contenders: dict[str, Work] = {
            "YAML alone": lambda _, t=text: yaml.safe_load(t),
            "policy": lambda _, t=text: Policy.read(yaml.safe_load(t)),
        }
        rows = compare("YAML alone", contenders, 3 * rounds)
        read += [{"constraints": constraints, **row} for row in rows]
    return {"imported": imported, "read": read}


def _run(code: str) -> object:
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    return subprocess.run(  # noqa: S603 -- this interpreter, and code from above
        [sys.executable, "-c", code], check=True, cwd=ROOT, env=environment
    )


def measure_growth(*, quick: bool) -> dict[str, list[Row]]:
    """Take processor time and memory of each size in a process of its own."""
    rows: list[Row] = []
    for path, (unit, sizes) in PATHS.items():
        asked = [size // 10 for size in sizes] if quick else sizes
        spent = []
        for size in asked:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                spent.append(pool.submit(spend, path, size).result())
        slope = _slope(asked, [seconds for seconds, _ in spent])
        rows += [
            {
                "path": path,
                "size": f"{size:,} {unit}",
                "CPU seconds": seconds,
                "exponent": slope,
                "MB": megabytes,
            }
            for size, (seconds, megabytes) in zip(asked, spent, strict=True)
        ]
    return {"paths": rows}


PATHS = {
    "detecting": ("characters", (100_000, 400_000, 1_600_000)),
    "locating": ("characters", (10_000, 20_000, 40_000)),
    "scanning for injections": ("characters", (50_000, 200_000, 800_000)),
    "masking plan": ("documents", (10_000, 30_000, 100_000)),
}


def spend(path: str, size: int) -> tuple[float, int]:
    """Return the seconds and the megabytes that work of a size takes here."""
    work = _prepare(path, size)
    before, start = _peak(), process_time()
    work()
    return process_time() - start, _peak() - before


def _prepare(path: str, size: int) -> Callable[[], object]:
    # Imports and a small piece of work are no part of what is measured.
    text = write_text(size)
    if path == "masking plan":
        from benchmarks.zipf import zipf_corpus  # noqa: PLC0415 -- one path each
        from sdrag.linkage.plan import plan_masking  # noqa: PLC0415 -- as above
        from sdrag.policy import LinkageSection  # noqa: PLC0415 -- as above

        corpus = zipf_corpus(size)
        plan_masking(zipf_corpus(100), LinkageSection())
        return lambda: plan_masking(corpus, LinkageSection())
    if path == "detecting":
        from sdrag.detectors.local import mentions  # noqa: PLC0415 -- as above

        mentions(text[:1000])
        return lambda: mentions(text)
    if path == "scanning for injections":
        from sdrag.guardrails.injection import scan_text  # noqa: PLC0415 -- as above
        from sdrag.policy import InjectionSection  # noqa: PLC0415 -- as above

        section = InjectionSection(max_characters=2 * size, local_classifier=False)
        scan_text(text[:1000], section)
        return lambda: scan_text(text, section)
    return _prepare_locating(text)


def _prepare_locating(text: str) -> Callable[[], object]:
    from sdrag.pipeline import Engine, bind  # noqa: PLC0415 -- one path each
    from sdrag.vocabulary import Passage  # noqa: PLC0415 -- as above

    passages = [
        Passage(str(at), text[at : at + 1000], document_id=str(at // 5000))
        for at in range(0, len(text), 1000)
    ]
    engine = Engine(write_policy(20))
    engine.run(bind([Passage("first", text[:1000])], engine))
    return lambda: engine.run(bind(passages, engine))


def _slope(sizes: Iterable[float], times: Iterable[float]) -> float:
    """Return the slope of the logarithm of time over that of size: 1 is linear."""
    logs = [log(size) for size in sizes], [log(max(time, 1e-6)) for time in times]
    return float(np.polyfit(*logs, 1)[0])


def _peak() -> int:
    """Return the most memory that this process ever held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


SECTIONS: dict[str, Callable[..., dict[str, list[Row]]]] = {
    "question": measure_question,
    "checks": measure_checks,
    "starting": measure_starting,
    "growth": measure_growth,
}


def render(rows: list[Row]) -> str:
    """Return rows as a Markdown table."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads)]
    lines += [[_shown(value) for value in row.values()] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def main() -> None:
    """Measure the sections that are named, and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {platform.machine()}"
    print(f"Python {platform.python_version()}, {machine}")
    for name in given.sections or SECTIONS:
        for title, rows in SECTIONS[name](quick=given.quick).items():
            print(f"\n{name}: {title}\n\n{render(rows)}", flush=True)


if __name__ == "__main__":
    main()
