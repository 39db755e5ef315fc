"""
The knowledge-base scan with the injection guard as its judge, written as a report.

The rooms do not know each other, so the judge is handed to the scan here. The report is
one JSON object a line: passage, span, score. It holds no text; the host has the corpus.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from sdrag.guardrails.injection import scan as read_for_orders
from sdrag.highlight.corpus_scan import Judge, scan
from sdrag.policy import HighlightSection, InjectionSection
from sdrag.vocabulary import Passage, Span

__all__ = ["guard_judge", "scan_to"]


def guard_judge(section: InjectionSection | None = None) -> Judge:
    """
    Judge windows with the injection guard.

    Patterns read each window alone. The local classifier, where the section has it,
    looks for what does not belong, so it reads the text as a whole, and a window has
    the score of what it shares a word with.

    Args:
        section: Its settings; by default the patterns alone, which need no model.
    """
    rules = section or InjectionSection(local_classifier=False)
    patterns = rules.model_copy(update={"local_classifier": False})

    def judge(text: str, spans: Sequence[Span]) -> list[float]:
        alone = [read_for_orders(span.of(text), patterns).score for span in spans]
        if not rules.local_classifier:
            return alone
        whole = read_for_orders(text, rules).suspicions
        return [
            max([score, *(one.score for one in whole if one.span.overlaps(span))])
            for score, span in zip(alone, spans, strict=True)
        ]

    return judge


def scan_to(
    report: Path,
    passages: Iterable[Passage],
    rules: HighlightSection,
    judge: Judge | None = None,
) -> dict[str, int]:
    """Write the alarms of a corpus as they are found; returns their number."""
    alarms, seen = 0, set()
    with report.open("w", encoding="utf-8") as file:
        found = scan(passages, judge or guard_judge(), min_words=rules.min_words)
        for alarm in found:
            file.write(json.dumps(asdict(alarm)) + "\n")
            file.flush()
            alarms += 1
            seen.add(alarm.passage_id)
    return {"alarms": alarms, "passages": len(seen)}
