"""
Checks on text: quotations, injections and claims, each next to what it rests on.

Quotations: 20 extracts against 20 passages of 10,000 characters, next to rapidfuzz,
which finds where they are. Injections: a passage of 1,000 characters, next to embedding
it with MiniLM. Claims: seven of them against eight passages, next to embedding the same
sentences; no check that embeds can take less.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import highlight
from benchmarks.page import answers
from benchmarks.page.labelled import labelled_text
from benchmarks.page.sections import Cell, Figures
from benchmarks.page.timing import medians
from sdrag.embeddings import embed_tokens
from sdrag.guardrails.injection import scan
from sdrag.policy import InjectionSection

__all__ = ["measure"]

PACKAGES = ("rapidfuzz", "tokenizers", "torch")


def measure(*, quick: bool) -> Figures:
    """Measure the three."""
    rounds = 3 if quick else 30
    found = highlight.speed(1 if quick else 5)
    verifying = found["verify_seconds"]
    quotations: list[dict[str, Cell]] = [
        {"work": name, "ms": 1000 * taken, "times": taken / verifying}
        for name, taken in (
            ("verifying quotations", verifying),
            ("`partial_ratio_alignment`", found["rapidfuzz_seconds"]),
            ("the same with a cut-off", found["rapidfuzz_with_cutoff_seconds"]),
        )
    ]
    patterns, whole = InjectionSection(local_classifier=False), InjectionSection()
    written, _ = labelled_text(1000 * (rounds + 1))
    passages = [written[at : at + 1000] for at in range(0, len(written), 1000)]
    scans = next_to(
        "embedding the passage",
        {
            "embedding the passage": lambda n: embed_tokens([passages[n]]),
            "scanning it by patterns": lambda n: scan(passages[n], patterns),
            "scanning it with the classifier": lambda n: scan(passages[n], whole),
        },
        rounds,
    )
    texts = answers.sentences_of_all()
    claims = next_to(
        "embedding all sentences",
        {
            "embedding all sentences": lambda _: embed_tokens(texts),
            "checking seven claims": lambda _: answers.check(),
        },
        rounds // 3,
    )
    facts = {
        "quotations": verifying / found["rapidfuzz_seconds"],
        "patterns": scans[1]["times"],
        "patterns_ms": scans[1]["ms"],
        "classifier": scans[2]["times"],
        "classifier_ms": scans[2]["ms"],
        "claims": claims[1]["times"],
    }
    tables = {"quoted": quotations, "scanned": scans, "checked": claims}
    return Figures(tables, facts, PACKAGES)


def next_to(
    reference: str, contenders: dict[str, Callable[[int], object]], rounds: int
) -> list[dict[str, Cell]]:
    """Return the medians, and how often the reference fits into each."""
    times = medians(contenders, rounds)
    return [
        {"work": name, "ms": 1000 * taken, "times": taken / times[reference]}
        for name, taken in times.items()
    ]
