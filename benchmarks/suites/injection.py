"""How well injections are found, and how often harmless text is taken for one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.suites.classification import auc, rates
from benchmarks.suites.json_files import read_rows
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.scan import scan_text

if TYPE_CHECKING:
    from sdrag.guardrails.injection.scan import Classify

__all__ = ["Example", "Scored", "measure", "read_examples", "score", "summary"]


@dataclass(frozen=True, slots=True)
class Example:
    """A text, whether it holds an injection, and where it comes from."""

    text: str
    label: bool
    source: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """What the scanner says of an example."""

    example: Example
    score: float


def read_examples(path: Path) -> list[Example]:
    """
    Read rows of `text` or `prompt` and `label` (1: an injection), and maybe `source`.

    Raises:
        UsageError: A line is not of that shape.
    """
    return read_rows(
        path,
        lambda row: Example(
            str(row["text"] if "text" in row else row["prompt"]),
            bool(int(row["label"])),
            str(row.get("source", "")),
        ),
        "a `text` and a `label`",
    )


def measure(
    examples: Sequence[Example],
    section: InjectionSection,
    classify: Classify | None = None,
) -> dict[str, Any]:
    """Score examples with one scanner, the shipped one if `classify` is None."""
    return summary(score(examples, section, classify), section.threshold)


def score(
    examples: Sequence[Example], section: InjectionSection, classify: Classify | None
) -> list[Scored]:
    """Score each example, also those under the threshold."""
    everything = section.model_copy(update={"threshold": 0.0})
    return [
        Scored(example, scan_text(example.text, everything, classify=classify).score)
        for example in examples
    ]


def summary(scored: Sequence[Scored], threshold: float) -> dict[str, Any]:
    """Return the rates at a threshold, the AUC, and the share flagged by source."""
    predicted = [result.score >= threshold for result in scored]
    labels = [result.example.label for result in scored]
    alarms: dict[str, list[bool]] = defaultdict(list)
    for result, alarm in zip(scored, predicted, strict=True):
        for part in result.example.source.split("/"):
            alarms[part].append(alarm)
    return {
        **rates(predicted, labels),
        "auc": auc([result.score for result in scored], labels),
        "examples": len(scored),
        "flagged": {
            source: sum(raised) / len(raised)
            for source, raised in sorted(alarms.items())
            if source
        },
    }
