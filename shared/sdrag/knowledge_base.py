"""
The scan of a knowledge base: which of its stretches a summarizer could obey.

Highlight & Summarize leaves an attacker nothing but what is in the corpus. So the
corpus can be searched for triggers in advance (section 9). The injection guard looks at
every window that can be highlighted. An alarm is for a person to look at; nothing is
changed. A report is one JSON object a line: passage, span, score. It holds no text; the
host has the corpus.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

from sdrag.guardrails.injection import scan_text
from sdrag.highlight.corpus_scan import Alarm, Judge, scan
from sdrag.policy import InjectionSection, Policy, PolicySource
from sdrag.vocabulary import Passage, Span

__all__ = ["Alarm", "guard_judge", "scan_passages", "scan_to"]


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
    counts: Counter[str] = Counter()
    file = nullcontext() if report is None else report.open("w", encoding="utf-8")
    with file as lines:
        for alarm in alarms:
            if lines is not None:
                lines.write(json.dumps(asdict(alarm)) + "\n")
                lines.flush()
            counts[alarm.passage_id] += 1
    return {"alarms": counts.total(), "passages": len(counts)}
