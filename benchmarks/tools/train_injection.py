"""
Train the head of the injection classifier, or measure by folds how well it does.

    python benchmarks/tools/train_injection.py DATA_FOLDER OUTPUT
    python benchmarks/tools/train_injection.py DATA_FOLDER --folds

`DATA_FOLDER` holds `bipia`, `notinject`, `privacylens`, `poisonedrag` and `spia`. The
output takes the place of `head.json` in `sdrag.guardrails.injection`.

On the data that the load_head head was trained on, that head is not measured. Each of
five folds trains a head on the attack categories and e-mails of the others, and is
scored on attacks of categories it has never seen, in e-mails it has never seen, at the
start, in the middle and at the end. NotInject, harmless prompts full of trigger words,
is trained on by nobody, and is scored by every fold.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.suites.injection import Example, Scored, score, summary
from benchmarks.suites.json_files import read_json
from benchmarks.tools.injection_training import (
    POSITIONS,
    Remembered,
    fit,
    insert,
    read_attacks,
    read_emails,
    read_others,
)
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.classifier import classify

FOLDS = 5


def main(arguments: list[str]) -> None:
    """Train on all the data and write the weights, or print what the folds give."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    data = Path(arguments[0])
    if arguments[1] == "--folds":
        print(json.dumps(cross_validate(data, InjectionSection()), indent=2))
        return
    others = read_others(data, random.Random(0))
    head = fit(read_emails(data), others, read_attacks(data), Remembered())
    load_head = {
        "bias": round(head.bias, 5),
        "weights": [round(float(weight), 5) for weight in head.weights],
    }
    weights = json.dumps(load_head) + "\n"
    Path(arguments[1]).write_text(weights, encoding="utf-8")


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
    draw = random.Random(seed)
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
            [text for number, text in enumerate(emails) if number % FOLDS != fold],
            others,
            [attack for attack in attacks if attack.category not in unseen],
            remembered,
            seed=seed + fold,
        )
        classify_unseen = partial(classify, head=head, embedder=remembered)
        examples = list(harmless)
        for email in emails[fold::FOLDS]:
            examples.append(Example(email, label=False, source="clean"))
            for attack in attacks:
                if attack.category in unseen:
                    examples += _attacked(email, attack.text, attack.category, draw)
        scored += score(examples, section, classify_unseen)
    return summary(scored, section.threshold)


def _attacked(
    email: str, attack: str, category: str, draw: random.Random
) -> Iterator[Example]:
    for position in POSITIONS:
        text, _ = insert(email, attack, position, draw.choice(["\n", " "]), draw)
        yield Example(text, label=True, source=f"{category}/{position}")


def _harmless(data: Path) -> list[Example]:
    return [
        Example(row["prompt"], label=False, source="notinject")
        for name in ("NotInject_one.json", "NotInject_two.json")
        for row in read_json(data / "notinject" / name)
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
