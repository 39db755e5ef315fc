"""
The scan of a knowledge base: what a summarizer could obey, and what is contradicted.

Highlight & Summarize leaves an attacker nothing but what is in the corpus. So the
corpus can be searched for triggers in advance (section 9). The injection guard looks at
every window that can be highlighted. An alarm is for a person to look at; nothing is
changed. A report is one JSON object a line: passage, span, score. It holds no text; the
host has the corpus. Pairs of passages that contradict each other are listed likewise.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from sdrag.guardrails.contradictions import ContradictionsSection
from sdrag.guardrails.contradictions.corpus import (
    Contradiction,
    CorpusContradictions,
    find_contradictions,
)
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.scan import scan_text
from sdrag.guardrails.staleness import drop_stale
from sdrag.highlight.corpus_scan import Alarm, Judge, scan
from sdrag.policy import Policy, PolicySource
from sdrag.vocabulary import Passage, Span

__all__ = [
    "Alarm",
    "Contradiction",
    "CorpusContradictions",
    "contradictions_to",
    "guard_judge",
    "scan_contradictions",
    "scan_passages",
    "scan_to",
]

T = TypeVar("T", Alarm, Contradiction)


def scan_passages(
    passages: Iterable[Passage], policy: PolicySource | None = None
) -> Iterator[Alarm]:
    """
    Yield what a model could take as an instruction, as it is found.

    Args:
        passages: The corpus, chunks of one document in their order; read one by one.
        policy: Its `highlight` section says what can be highlighted. With an
            `injection` section, its threshold and its local classifier are used;
            without, patterns alone, which need no model, and a threshold of 0.5.

    Raises:
        PolicyError: The policy cannot be read.
    """
    read = Policy.read(policy if policy is not None else {})
    section = read.injection or InjectionSection(local_classifier=False)
    return scan(
        passages,
        guard_judge(section),
        threshold=section.threshold,
        min_words=read.highlight.least_words,
    )


def guard_judge(section: InjectionSection) -> Judge:
    """
    Judge windows with the injection guard.

    Patterns read each window alone. The local classifier, where the section has it,
    looks for what does not belong, so it reads the text as a whole, and a window has
    the score of what it shares a word with.
    """
    patterns = section.model_copy(update={"local_classifier": False})

    def judge(text: str, spans: Sequence[Span]) -> list[float]:
        alone = [scan_text(span.of(text), patterns).score for span in spans]
        if not section.local_classifier:
            return alone
        whole = scan_text(text, section).suspicions
        return [
            max([score, *(s.score for s in whole if s.span.overlaps(span))])
            for score, span in zip(alone, spans, strict=True)
        ]

    return judge


def scan_to(report: Path | None, alarms: Iterable[Alarm]) -> dict[str, int]:
    """
    Write alarms as they are found.

    Returns:
        How many there are, and in how many passages.
    """
    counts = Counter(alarm.passage_id for alarm in _write_each(report, alarms))
    return {"alarms": counts.total(), "passages": len(counts)}


def scan_contradictions(
    passages: Iterable[Passage], policy: PolicySource | None = None
) -> CorpusContradictions:
    """
    Find the passages of a corpus that contradict each other, sentence by sentence.

    The local rules judge, whatever `method` says. Time grows with the corpus, not with
    its square: sentences are compared that share rare words, three words at least.

    Args:
        passages: The corpus. Those of one passage are not compared.
        policy: Its `contradictions` section says which passage is preferred. What its
            `staleness` section drops is left out.

    Raises:
        PolicyError: The policy cannot be read.
    """
    read = Policy.read(policy if policy is not None else {})
    given = tuple(passages)
    if read.staleness is not None:
        given = drop_stale(given, read.staleness, now=datetime.now(UTC)).passages
    return find_contradictions(given, read.contradictions or ContradictionsSection())


def contradictions_to(
    report: Path | None, found: CorpusContradictions
) -> dict[str, int]:
    """
    Write contradictions.

    Returns:
        How many are listed, of how many passages; `repeated` and `unchecked`.
    """
    pairs = list(_write_each(report, found.pairs))
    passages = {name for pair in pairs for name in pair.passage_ids}
    return {
        "contradictions": len(pairs),
        "passages": len(passages),
        "repeated": found.repeated,
        "unchecked": found.unchecked,
    }


def _write_each(report: Path | None, found: Iterable[T]) -> Iterator[T]:
    """Yield what is found as it is written, one JSON object a line."""
    file = nullcontext() if report is None else report.open("w", encoding="utf-8")
    with file as lines:
        for item in found:
            if lines is not None:
                lines.write(json.dumps(asdict(item)) + "\n")
                lines.flush()
            yield item
