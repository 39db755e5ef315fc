"""
Growth: time against size with fitted exponents, and memory.

Each size is measured in a process of its own, so that its peak of memory is its own.
Memory is what came on top of the imports. An exponent of 1 is linear: twice the size
takes twice the time.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.page.sections import Cell, Figures
from benchmarks.page.timing import exponent, in_fresh_process, medians

__all__ = ["measure"]

Row = dict[str, Cell]
PACKAGES = ("numpy", "networkx", "torch", "chromadb")


def measure(*, quick: bool) -> Figures:
    """Measure every path over its sizes."""
    paths: Sequence[tuple[str, str, Callable[[int], Any], tuple[int, ...]]] = (
        ("detecting", "characters", detecting, (100_000, 400_000, 1_600_000)),
        ("locating", "characters", locating, (10_000, 20_000, 40_000)),
        ("tagging", "characters", tagged, (5000, 10_000, 20_000)),
        ("binding, costless findings", "chunks", binding, (100, 200, 400)),
        ("scanning for injections", "characters", scanning, (50_000, 200_000, 800_000)),
        ("masking plan", "documents", planning, (10_000, 30_000, 100_000)),
    )
    rows: list[Row] = []
    facts: dict[str, Cell] = {}
    rates: dict[str, float] = {}
    for name, unit, work, sizes in paths:
        asked = [size // 10 for size in sizes] if quick else sizes
        found = [in_fresh_process(spent, work, size) for size in asked]
        slope = exponent(
            [one["work"] for one in found], [one["seconds"] for one in found]
        )
        rows += [
            {
                "path": name,
                "size": f"{size:,} {unit}",
                "CPU seconds": one["seconds"],
                "times the first": one["seconds"] / found[0]["seconds"],
                "size, times the first": one["work"] / found[0]["work"],
                "exponent": slope,
                "MB": one["megabytes"],
            }
            for size, one in zip(asked, found, strict=True)
        ]
        short = name.split()[0].strip(",")
        facts[f"{short}_exponent"] = slope
        rates[short] = found[-1]["seconds"] / found[-1]["work"]
    for path in ("locating", "tagging"):
        facts[f"{path}_times"] = rates[path] / rates["detecting"]
    cold = in_fresh_process(
        cold_questions, (50, 100) if quick else (250, 500, 1000, 2000)
    )
    facts["cold_exponent"] = exponent(
        [row["chunks"] for row in cold], [row["wrapped, ms"] for row in cold]
    )
    facts["state_bytes"] = cold[-1]["state, bytes a chunk"]
    return Figures({"paths": rows, "corpus": cold}, facts, PACKAGES)


def spent(work: Callable[[int], Any], size: int) -> dict[str, float]:
    """Return processor time, size and memory of some work in this process."""
    act, amount = work(size)
    before = _peak()
    start = process_time()
    result = act()
    took = process_time() - start
    counted = amount(result) if callable(amount) else amount
    return {"seconds": took, "work": counted, "megabytes": _peak() - before}


def detecting(characters: int) -> tuple[Callable[[], object], int]:
    """Find mentions in one text."""
    from benchmarks.page.labelled import labelled_text  # noqa: PLC0415 -- one path each
    from sdrag.detectors.local import mentions  # noqa: PLC0415 -- as above

    text, _ = labelled_text(characters)
    mentions(text[:1000])
    return lambda: mentions(text), len(text)


def tagged(characters: int) -> tuple[Callable[[], object], int]:
    """Find with the network of `TaggerDetector` alone."""
    from benchmarks.page.labelled import labelled_text  # noqa: PLC0415 -- one path each
    from sdrag.detectors import tagger  # noqa: PLC0415 -- as above

    text, _ = labelled_text(characters)
    tagger.tags(text[:500])
    return lambda: tagger.tags(text), len(text)


def locating(characters: int) -> tuple[Callable[[], object], int]:
    """Locate what 20 constraints withhold, as at ingest."""
    from benchmarks.locating import CHUNKS, SIZE, corpus, rules  # noqa: PLC0415
    from sdrag.disclosure.local import LocalLocator  # noqa: PLC0415 -- as above
    from sdrag.effects.runner import PortRunner, Ports  # noqa: PLC0415 -- as above
    from sdrag.effects.steps import run  # noqa: PLC0415 -- as above

    passages, asked = corpus(characters // (CHUNKS * SIZE) or 1), rules(20)
    runner = PortRunner(Ports())
    run(LocalLocator().locate(passages[:1], asked), runner)
    length = sum(len(passage.text) for passage in passages)
    return lambda: run(LocalLocator().locate(passages, asked), runner), length


def binding(chunks: int) -> tuple[Callable[[], object], int]:
    """Store what was found: close its spans and register its forms."""
    from benchmarks.page import corpus  # noqa: PLC0415 -- one path each

    documents, rules = corpus.chunks(chunks), corpus.policy(100)
    corpus.located(documents[:10], rules)
    return lambda: corpus.located(documents, rules), chunks


def scanning(characters: int) -> tuple[Callable[[], object], int]:
    """Read a text for injections, by patterns."""
    from benchmarks.page.labelled import labelled_text  # noqa: PLC0415 -- one path each
    from sdrag.guardrails.injection.text_scan import scan_patterns  # noqa: PLC0415
    from sdrag.policy import InjectionSection  # noqa: PLC0415 -- as above

    text, _ = labelled_text(characters)
    section = InjectionSection(max_characters=2 * characters, local_classifier=False)
    scan_patterns(text[:1000], section)
    return lambda: scan_patterns(text, section), len(text)


def planning(documents: int) -> tuple[Callable[[], object], Callable[[Any], int]]:
    """Analyse links and plan masks; the size counts mentions and links."""
    from benchmarks.linkage_experiments.generated import zipf_corpus  # noqa: PLC0415
    from sdrag.linkage.planning import plan_masking  # noqa: PLC0415 -- one path each
    from sdrag.policy import LinkageSection  # noqa: PLC0415 -- as above

    corpus = zipf_corpus(documents)
    plan_masking(zipf_corpus(100), LinkageSection())
    mentions = len(corpus.entity)
    return (
        lambda: plan_masking(corpus, LinkageSection()),
        lambda plan: mentions + plan.links_before,
    )


def cold_questions(sizes: Sequence[int]) -> list[Row]:
    """Ask new questions of a growing index, plain and wrapped."""
    from benchmarks.page.corpus import (  # noqa: PLC0415 -- one path each
        Drawn,
        chunks,
        located,
        policy,
        question,
    )
    from benchmarks.page.hosts import langchain_host  # noqa: PLC0415 -- as above

    documents, rules, rows = chunks(sizes[-1]), policy(100), []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "state.sqlite")
        for before, size in zip((0, *sizes), sizes, strict=False):
            state = located(documents[before:size], rules, file)
            host = langchain_host(documents[:size], Drawn(), Path(folder, str(size)))
            wrapped = host.wrap(policy=rules, state=state)
            times = medians(
                {
                    "bare": lambda n, held=host: held.ask(held.bare, question(n)),
                    "wrapped": lambda n, held=host, ours=wrapped: held.ask(
                        ours, question(n)
                    ),
                },
                20,
            )
            weight = sum(one.stat().st_size for one in Path(folder).glob("state*"))
            rows.append(
                {
                    "chunks": size,
                    "bare, ms": 1000 * times["bare"],
                    "wrapped, ms": 1000 * times["wrapped"],
                    "times": times["wrapped"] / times["bare"],
                    "added, ms": 1000 * (times["wrapped"] - times["bare"]),
                    "state, bytes a chunk": round(weight / size),
                }
            )
    return rows


def _peak() -> int:
    """Return the most memory that this process ever held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
