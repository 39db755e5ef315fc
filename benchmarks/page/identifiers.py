"""
Finding and redacting identifiers, next to Presidio, LangChain and llm-guard.

Everybody reads the same text, which is written here with identifiers whose places are
known. Found is an identifier of which every character is in some span; taken too much
is the share of the other characters that are in one. Presidio is measured with its
pattern recognizers, without a language model; its analyzer with a tokenizer of spaCy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from langchain.agents.middleware._redaction import BUILTIN_DETECTORS

from benchmarks.page.labelled import KINDS, Planted, labelled_text
from benchmarks.page.peers import analyzer, anonymizer, llm_guard_patterns, patterns
from benchmarks.page.sections import Cell, Figures
from benchmarks.page.timing import medians
from sdrag.detectors.local import mentions
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.vocabulary import Passage
from sdrag.wrapper_setup import local_embeddings

__all__ = ["measure"]

Span = tuple[int, int]
PACKAGES = ("presidio_analyzer", "presidio_anonymizer", "spacy", "langchain")
CONSTRAINTS = (
    "Hide e-mail addresses and telephone numbers",
    "Hide card numbers and account numbers",
    "Hide social security numbers",
    "Hide IP addresses and web addresses",
)
NOT_ASKED = {"name", "date"}
"""Kinds that no constraint names; Presidio has no pattern for names either."""
CHUNK = 1000


def measure(*, quick: bool) -> Figures:
    """Measure what is found and how fast, then redaction as a whole."""
    size, rounds = (10_000, 1) if quick else (100_000, 3)
    text, planted = labelled_text(size)
    finders: dict[str, Callable[[str], list[Span]]] = {
        "sdrag, all of its rules": ours,
        "Presidio, patterns": patterns(),
        "`PIIMiddleware`, its five detectors": middleware,
    }
    version, guard = llm_guard_patterns()
    if guard is not None:
        finders[f"llm-guard {version}, its patterns"] = guard
    times = medians(
        {name: partial(_ignoring, find, text) for name, find in finders.items()}, rounds
    )
    rows: list[dict[str, Cell]] = [
        {
            "detector": name,
            "MB a second": len(text) / 1e6 / times[name],
            "time next to sdrag": times[name] / times["sdrag, all of its rules"],
            **counted(find(text), planted, len(text)),
        }
        for name, find in finders.items()
    ]
    facts = {
        "presidio_share": 1 / float(rows[1]["time next to sdrag"]),
    }
    text, planted = labelled_text(3000 if quick else 40_000)
    tables = {"found": rows, "redacted": redacted(text, planted, rounds)}
    return Figures(tables, facts, PACKAGES)


def redacted(
    text: str, planted: Sequence[Planted], rounds: int
) -> list[dict[str, Cell]]:
    """Redact chunks of the text as each does it, from text to text."""
    chunks = [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]
    anonymize = anonymizer(analyzer())
    policy = {"constraints": list(CONSTRAINTS)}
    runner = PortRunner(Ports(embed=local_embeddings()))
    passages = [Passage(f"p{n}", one) for n, one in enumerate(chunks)]
    bound = Engine.build(policy)
    run(bind(passages, bound), runner)

    def disclosed(engine: Engine) -> list[str]:
        released = run(disclose(passages, Request("?"), engine), runner)
        return [passage.text for passage in released.passages]

    contenders = {
        "sdrag, never bound": lambda _: disclosed(Engine.build(policy)),
        "sdrag, bound": lambda _: disclosed(bound),
        "Presidio, analyzer and anonymizer": lambda texts: list(map(anonymize, texts)),
    }
    times = medians(
        {name: partial(_ignoring, work, chunks) for name, work in contenders.items()},
        rounds,
    )
    least = times["sdrag, never bound"]
    return [
        {
            "redaction": name,
            "KB a second": len(text) / 1000 / times[name],
            "time next to sdrag": times[name] / least,
            "identifiers gone": share_gone("".join(work(chunks)), planted),
        }
        for name, work in contenders.items()
    ]


def share_gone(released: str, planted: Sequence[Planted]) -> float:
    """Return the share of what the constraints name that can no longer be read."""
    some = [one for one in planted if one.kind not in NOT_ASKED]
    return sum(one.text not in released for one in some) / len(some)


def counted(
    spans: Sequence[Span], planted: Sequence[Planted], length: int
) -> dict[str, Cell]:
    """Return the share that was found of each kind, and what was taken too much."""
    taken = bytearray(length)
    for start, end in spans:
        taken[start:end] = b"\1" * (end - start)
    found: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    wanted = bytearray(length)
    for one in planted:
        found[one.kind].append(all(taken[one.start : one.end]))
        wanted[one.start : one.end] = b"\1" * (one.end - one.start)
    others = length - sum(wanted)
    more = sum(t and not w for t, w in zip(taken, wanted, strict=True))
    return {kind: sum(hits) / len(hits) for kind, hits in found.items()} | {
        "taken too much": more / others
    }


def ours(text: str) -> list[Span]:
    """Find with the local detector: every type it knows."""
    return [(mention.span.start, mention.span.end) for mention in mentions(text)]


def middleware(text: str) -> list[Span]:
    """Find with the detectors that LangChain brings."""
    return [
        (match["start"], match["end"])
        for detect in BUILTIN_DETECTORS.values()
        for match in detect(text)
    ]


def _ignoring(work: Callable[[Any], object], given: object, _number: int) -> object:
    return work(given)
