"""
How well injections are found, and how often harmless text is taken for one.

On a file, the shipped scanner is measured as it is. On the folder of development data,
where the shipped head was trained, it is not: each of five folds trains a head on the
attack categories and e-mails of the others, and is scored on attacks of categories it
has never seen, in e-mails it has never seen, at the start, in the middle and at the
end. NotInject, harmless prompts full of trigger words, is trained on by nobody, and is
scored by every fold.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdrag.errors import UsageError
from sdrag.evaluation.classification import auc, rates
from sdrag.guardrails.injection import scan
from sdrag.guardrails.injection.classifier import classify
from sdrag.guardrails.injection.train import (
    POSITIONS,
    Remembered,
    fit,
    insert,
    read_attacks,
    read_emails,
    read_others,
)
from sdrag.policy import InjectionSection

if TYPE_CHECKING:
    from sdrag.guardrails.injection.text_scan import Judge

__all__ = ["Example", "cross_validate", "measure", "read_examples"]

FOLDS = 5


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
    Read JSON lines of `text` and `label` (1: an injection), and maybe `source`.

    Raises:
        UsageError: A line is not of that shape.
    """
    examples = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            held = json.loads(line)
            label = bool(int(held["label"]))
            examples.append(Example(held["text"], label, str(held.get("source", ""))))
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"Line {number} is no example of a text.") from None
    return examples


def measure(
    examples: Sequence[Example], section: InjectionSection, judge: Judge | None = None
) -> dict[str, Any]:
    """Score examples with one scanner, the shipped one if `judge` is None."""
    return _summary(_scored(examples, section, judge), section.threshold)


def cross_validate(
    data: Path, section: InjectionSection, *, seed: int = 0
) -> dict[str, Any]:
    """
    Score the development data without ever scoring what a head was trained on.

    Args:
        data: The folder that holds `bipia`, `notinject` and the others.
        section: The threshold, and whether there is a head at all.
        seed: Cuts the folds and places the attacks.
    """
    draw = random.Random(seed)  # noqa: S311 -- sampling, no secret
    remembered = Remembered()
    attacks, emails = read_attacks(data), read_emails(data)
    others = read_others(data, draw)
    categories = sorted({attack.category for attack in attacks})
    draw.shuffle(categories)
    draw.shuffle(emails)
    harmless = _harmless(data)
    scored: list[Scored] = []
    for fold in range(FOLDS):
        unseen = set(categories[fold::FOLDS])
        head = fit(
            [text for place, text in enumerate(emails) if place % FOLDS != fold],
            others,
            [attack for attack in attacks if attack.category not in unseen],
            remembered,
            seed=seed + fold,
        )
        judge = partial(classify, head=head, embedder=remembered)
        examples = list(harmless)
        for email in emails[fold::FOLDS]:
            examples.append(Example(email, label=False, source="clean"))
            for attack in attacks:
                if attack.category in unseen:
                    examples += _attacked(email, attack.text, attack.category, draw)
        scored += _scored(examples, section, judge)
    return _summary(scored, section.threshold)


def _attacked(
    email: str, attack: str, category: str, draw: random.Random
) -> Iterator[Example]:
    for position in POSITIONS:
        text, _ = insert(email, attack, position, draw.choice(["\n", " "]), draw)
        yield Example(text, label=True, source=f"{category}/{position}")


def _harmless(data: Path) -> list[Example]:
    return [
        Example(held["prompt"], label=False, source="notinject")
        for name in ("NotInject_one.json", "NotInject_two.json")
        for held in json.loads((data / "notinject" / name).read_text(encoding="utf-8"))
    ]


def _scored(
    examples: Sequence[Example], section: InjectionSection, judge: Judge | None
) -> list[Scored]:
    """Score each example, also those that stay under the threshold."""
    everything = section.model_copy(update={"threshold": 0.0})
    return [
        Scored(one, scan(one.text, everything, judge=judge).score) for one in examples
    ]


def _summary(scored: Sequence[Scored], threshold: float) -> dict[str, Any]:
    predicted = [one.score >= threshold for one in scored]
    labels = [one.example.label for one in scored]
    alarms: dict[str, list[bool]] = defaultdict(list)
    for one, alarm in zip(scored, predicted, strict=True):
        for part in one.example.source.split("/"):
            alarms[part].append(alarm)
    return {
        **rates(predicted, labels),
        "auc": auc([one.score for one in scored], labels),
        "examples": len(scored),
        "flagged": {
            source: sum(held) / len(held)
            for source, held in sorted(alarms.items())
            if source
        },
    }
