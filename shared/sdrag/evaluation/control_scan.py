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
from sdrag.highlight.scan import Judge, scan
from sdrag.policy import HighlightSection, InjectionSection
from sdrag.vocabulary import Passage

__all__ = ["guard_judge", "scan_to"]


def guard_judge(section: InjectionSection | None = None) -> Judge:
    """
    Judge windows with the injection guard.

    Args:
        section: Its settings; by default the patterns alone, which need no model.
    """
    rules = section or InjectionSection(local_classifier=False)

    def judge(texts: Sequence[str]) -> list[float]:
        return [read_for_orders(text, rules).score for text in texts]

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
            alarms += 1
            seen.add(alarm.passage_id)
    return {"alarms": alarms, "passages": len(seen)}
