"""
What `benchmarks.page` measures: a function a section, which returns tables of rows.

A busy machine slows whoever runs at that moment. So those that are compared take turns,
round after round within one process, and medians are shown: read the ratios.
"""

from __future__ import annotations

import gc
import re
import resource
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
from langchain_chroma import Chroma
from langchain_core.documents import Document
from sentence_transformers import SentenceTransformer

from benchmarks.networks.layers import model_folder
from benchmarks.peers import TYPED, presidio, read_sentences, redactors, score
from benchmarks.suites.json_files import load_articles
from benchmarks.zipf import zipf_corpus
from langchain_sdrag import (
    ConstraintBinder,
    LinkageMasker,
    RedactingTransformer,
    SelectiveDisclosureRetriever,
)
from langchain_sdrag.local_embeddings import LocalEmbeddings
from sdrag.detectors.local import mentions
from sdrag.embeddings import embed_tokens
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.scan import scan_text
from sdrag.linkage.plan import plan_masking
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.policy import LinkageSection
from sdrag.studio.evaluation.index import SentenceIndex, sentence_chunks
from sdrag.vocabulary import Passage

Row = dict[str, str | float]
Tables = dict[str, list[Row]]
Work = Callable[[int], object]


def take_turns(contenders: Mapping[str, Work], rounds: int) -> dict[str, float]:
    """Return the median seconds of each contender, after one round that warms up."""
    times = time_turns(contenders, rounds)
    return {name: median(taken) for name, taken in times.items()}


def time_turns(contenders: Mapping[str, Work], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each contender in each round but the first."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        order = list(contenders.items())
        for name, work in order if number % 2 else reversed(order):
            gc.collect()
            start = perf_counter()
            work(number)
            times[name].append(perf_counter() - start)
    return {name: taken[1:] for name, taken in times.items()}


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


def measure_question(*, quick: bool) -> Tables:
    """Ask the bare retriever and each mode, in LangChain over Chroma on disk."""
    chunks, rounds = (10, 6) if quick else (20, 20)
    text = write_text(1000 * chunks)
    numbers, words = count(), re.findall(r"[a-z]{5,}", text)

    def ask(retriever: Any, name: str = "they") -> object:
        number = next(numbers)
        word, other = words[number], words[-number]
        return retriever.invoke(f"What did {name} do about {word} and {other}?")

    with tempfile.TemporaryDirectory() as folder:
        modes, unbound = _wrap_retrievers(folder, text, 0 if quick else 2)
        cold: dict[str, Work] = {
            name: lambda _, r=retriever: ask(r) for name, retriever in modes.items()
        }
        warm: dict[str, Work] = {
            f"{name}, the same question again": lambda _, r=retriever: r.invoke("Who?")
            for name, retriever in modes.items()
        }
        asked = compare("bare retriever", cold | warm, rounds)
        first: dict[str, Work] = {
            "bare retriever": lambda _: ask(modes["bare retriever"]),
            "wrapped, index never bound": lambda n: ask(unbound[n]),
        }
        if unbound:
            asked += compare("bare retriever", first, len(unbound) - 1)[1:]
        names = {"held": _find_name(text), "not held": "Zelda Zorblatt"}
        cases: dict[str, Work] = {
            f"{mode}; {kind}": lambda _, m=mode, n=name: ask(modes[m], n)
            for mode in modes
            for kind, name in names.items()
        }
        times = time_turns(cases, rounds)
    named: list[Row] = [
        dict(zip(("retriever", "name in the question"), case.split("; "), strict=True))
        | {f"{n} %, ms": 1000 * float(np.percentile(taken, n)) for n in (10, 50, 90)}
        for case, taken in times.items()
    ]
    return {"asked": asked, "named": named}


def _wrap_retrievers(
    folder: str, text: str, unbound: int
) -> tuple[dict[str, Any], list[Any]]:
    """Return a retriever of each mode over a text, and some over an unbound index."""
    policy, stores = write_policy(20), count()
    hiding = {**policy, "disclosure": {"influence": "none"}}
    documents = [
        Document(
            text[start:][:1000],
            id=f"chunk-{start // 1000}",
            metadata={"source": f"text-{start // 10_000}"},
        )
        for start in range(0, len(text), 1000)
    ]

    def store(stored: list[Document]) -> Any:
        name = f"chunks-{next(stores)}"
        chroma = Chroma(name, LocalEmbeddings(), f"{folder}/chroma")
        chroma.add_documents(stored)
        return chroma.as_retriever(search_kwargs={"k": 10})

    def wrap(base: Any, given: Mapping[str, Any], state: str | None = None) -> Any:
        return SelectiveDisclosureRetriever(
            base_retriever=base, policy=given, state=state
        )

    state = f"{folder}/state.sqlite"
    ConstraintBinder(policy=policy, state=state).transform_documents(documents)
    view = RedactingTransformer(policy=hiding, state=state)
    redacted = view.transform_documents(documents)
    modes = {
        "bare retriever": store(documents),
        "wrapped": wrap(store(documents), policy, state),
        "wrapped, `influence: none`": wrap(store(redacted), hiding, state),
        "wrapped, `session`": wrap(store(documents), {**policy, "session": {}}, state),
    }
    return modes, [wrap(store(documents), policy) for _ in range(unbound)]


def _find_name(text: str) -> str:
    """Return the name that a text holds most often."""
    people = [m.span.of(text) for m in mentions(text[:20_000]) if m.type == "PERSON"]
    return max(people, key=people.count)


def measure_checks(*, quick: bool) -> Tables:
    """Scan passages for injections, next to embedding them."""
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


def measure_locating(*, quick: bool) -> Tables:
    """Locate what constraints withhold in new chunks, next to embedding them."""
    count, rounds = (4, 1) if quick else (20, 5)
    text = write_text(1000 * count * (rounds + 1))
    chunks = [text[at : at + 1000] for at in range(0, len(text), 1000)]

    def take(number: int) -> list[str]:
        return chunks[count * number :][:count]

    def locate(policy: Mapping[str, Any]) -> Work:
        engine = Engine(policy)
        locator, rules = engine.disclosure.locator, engine.policy.rules

        def work(number: int) -> object:
            passages = [
                Passage(f"{number}-{at}", chunk, document_id=f"{number}-{at // 5}")
                for at, chunk in enumerate(take(number))
            ]
            return engine.run(locator.locate(passages, rules))

        return work

    model, analyze = SentenceTransformer(str(model_folder())), presidio()
    constraints: dict[str, float] = {
        "embedding by sentence-transformers": 0,
        "locating, 20 constraints that must be understood": 20,
        f"locating, {len(TYPED)} constraints on types": len(TYPED),
        "Presidio, the same types": len(TYPED),
    }
    works: list[Work] = [
        lambda n: model.encode(take(n)),
        locate(write_policy(20)),
        locate({"constraints": TYPED}),
        lambda n: [analyze(chunk) for chunk in take(n)],
    ]
    contenders = dict(zip(constraints, works, strict=True))
    rows = compare(next(iter(constraints)), contenders, rounds)
    for row in rows:
        rate = count / (float(row.pop("ms")) / 1000)
        asked = constraints[str(row["work"])]
        row |= {"KB/s": rate, "KB/s a constraint": rate * asked if asked else ""}
    return {"located": rows}


def measure_growth(*, quick: bool) -> Tables:
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
    "locating": ("characters", (5_000, 10_000, 20_000)),
    "scanning for injections": ("characters", (50_000, 200_000, 800_000)),
    "masking": ("characters", (15_000, 30_000, 60_000)),
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
        corpus = zipf_corpus(size)
        plan_masking(zipf_corpus(100), LinkageSection())
        return lambda: plan_masking(corpus, LinkageSection())
    if path == "detecting":
        mentions(text[:1000])
        return lambda: mentions(text)
    if path == "scanning for injections":
        section = InjectionSection(max_characters=2 * size, local_classifier=False)
        scan_text(text[:1000], section)
        return lambda: scan_text(text, section)
    if path == "masking":
        masker = LinkageMasker(policy={"linkage": {}}, whole_corpus=True)
        pieces = [text[at : at + 1000] for at in range(0, size, 1000)]
        documents = [Document(piece, id=str(at)) for at, piece in enumerate(pieces)]
        masker.transform_documents(documents[:1])
        return lambda: masker.transform_documents(documents)
    return _prepare_locating(text)


def _prepare_locating(text: str) -> Callable[[], object]:

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


def measure_processes(*, quick: bool) -> Tables:
    """Ask in one process, and in two that share a state."""
    questions = 20 if quick else 200
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in (1, 2):
            with ProcessPoolExecutor(number, mp_context=get_context("spawn")) as pool:
                parts = [(f"{folder}/state.sqlite", questions)] * number
                taken = list(pool.map(ask_many, parts))
            rate = sum(questions / seconds for seconds in taken)
            rows.append({"processes": str(number), "questions a second": rate})
    for row in rows:
        rate = float(row["questions a second"])
        row["times"] = rate / float(rows[0]["questions a second"])
    return {"shared": rows}


def ask_many(given: tuple[str, int]) -> float:
    """Return the seconds of so many questions over one state."""
    path, questions = given
    engine = Engine(write_policy(20), state=path)
    index = SentenceIndex(sentence_chunks(write_text(10_000), "text"))
    engine.run(bind(index.passages, engine))

    def ask(number: int) -> None:
        question = f"What was done on day {number}?"
        passages = index.search(question, 10)
        engine.run(disclose(passages, Request(question), engine))

    ask(0)
    start = perf_counter()
    for number in range(questions):
        ask(number)
    return perf_counter() - start


def measure_peers(*, quick: bool, texts: Path) -> Tables:
    """Redact the same sentences as others do; recall stands beside speed."""
    sentences = read_sentences(texts, 30 if quick else 150)
    known = {name: (calls, redact) for name, calls, redact in redactors()}
    shares = {name: score(redact, sentences) for name, (_, redact) in known.items()}
    works: dict[str, Work] = {
        name: lambda n, r=redact: r(sentences[n % len(sentences)])
        for name, (_, redact) in known.items()
    }
    taken = take_turns(works, 10 if quick else 60)
    reference = next(iter(taken.values()))
    rows: list[Row] = [
        {
            "redactor": name,
            "ms": 1000 * seconds,
            "times": seconds / reference,
            "recall": "its model's" if known[name][0] != "0" else shares[name][0],
            "kept": "its model's" if known[name][0] != "0" else shares[name][1],
            "calls of a model": known[name][0],
        }
        for name, seconds in taken.items()
    ]
    return {"redacted": rows}
