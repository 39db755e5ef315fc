"""
Train the head of the injection classifier.

    python benchmarks/tools/train_injection.py DATA_FOLDER OUTPUT

`DATA_FOLDER` holds `bipia`, `privacylens`, `poisonedrag` and `spia`. The output takes
the place of `head.json` in `sdrag.guardrails.injection`; then `check_shipped.py
--write` writes its hash.

Positive windows are the attacks of BIPIA, inserted into clean passages at the start,
in the middle and at the end; negative windows are everything else in those passages:
BIPIA's e-mails, PrivacyLens's stories and messages, PoisonedRAG's passages and TAB's
judgments, all under MIT. NotInject is never read, nor is any share-alike set.
A false alarm costs more than a miss, since it takes an innocent passage from an answer.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdrag.embeddings import DIMENSIONS, embed_texts
from sdrag.guardrails.injection.classifier import (
    WIDTH,
    InjectionHead,
    Windows,
    cut,
    features,
    has_context,
)
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Span

if TYPE_CHECKING:
    from sdrag.guardrails.injection.classifier import Matrix, Row, Vectors

POSITIONS = ("start", "middle", "end")
FALSE_ALARM_COST = 6.0
_RIDGE_EMBEDDING = 30.0
_RIDGE_FORM = 3.0
_ROUNDS = 12
_INSERTED = 3000
_KEPT_NEGATIVES = 0.1
_OTHERS = 700
_MESSAGE = re.compile(r'"(?:content|body|message|text)": "((?:[^"\\]|\\.){150,1500})"')


class Remembered:
    """Embeddings of texts that come again and again."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Embed what was not embedded before."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._held]
        if fresh:
            self._held.update(zip(fresh, embed_texts(fresh), strict=True))
        return np.stack([self._held[text] for text in texts])


def main(data: Path, output: Path) -> None:
    """Train on all the data and write the weights."""
    others = read_others(data, random.Random(0))
    head = fit(read_emails(data), others, read_attacks(data), Remembered())
    weights = [round(float(weight), 5) for weight in head.weights]
    content = json.dumps({"bias": round(head.bias, 5), "weights": weights})
    output.write_text(f"{content}\n", encoding="utf-8")


def read_attacks(data: Path) -> list[str]:
    """Read BIPIA's text and code attacks."""
    return [
        text
        for name in ("text_attack_train.json", "code_attack_train.json")
        for texts in json.loads((data / "bipia" / name).read_text()).values()
        for text in texts
    ]


def read_emails(data: Path) -> list[str]:
    """Read BIPIA's clean e-mails."""
    lines = (data / "bipia" / "email_train.jsonl").read_text().splitlines()
    return [json.loads(line)["context"] for line in lines]


def read_others(data: Path, draw: random.Random) -> list[str]:
    """Read passages of other kinds, a mixture of equal parts at most."""
    kinds = (_stories(data), _answers(data), _judgments(data))
    for kind in kinds:
        draw.shuffle(kind)
    return [text for kind in kinds for text in kind[: _OTHERS // len(kinds)]]


def insert(
    text: str, attack: str, position: str, separator: str, draw: random.Random
) -> tuple[str, Span]:
    """Put an attack into a text, between sentences, and say where it is."""
    place = 0
    if position == "end":
        place = len(text)
    elif position == "middle":
        place = draw.choice([one.end for one in sentences(text)][:-1] or [len(text)])
    before = text[:place] + (separator if place else "")
    after = (separator if place < len(text) else "") + text[place:]
    return before + attack + after, Span(len(before), len(before) + len(attack))


def fit(
    emails: Sequence[str],
    others: Sequence[str],
    attacks: Sequence[str],
    embedder: Callable[[Sequence[str]], Vectors],
) -> InjectionHead:
    """
    Train a head.

    Args:
        emails: Clean passages of the kind that is attacked.
        others: Clean passages of other kinds.
        attacks: What is inserted into both.
        embedder: As `Remembered`.
    """
    draw = random.Random(0)
    rows: list[Matrix] = []
    labels: list[Row] = []
    for text in (*emails, *others):
        _add(rows, labels, cut(text), None, embedder)
    for number in range(_INSERTED):
        held = draw.choice(emails if number % 2 else others)
        attack = draw.choice(attacks)
        separator = draw.choice(["\n", " ", "\n\n"])
        text, span = insert(held, attack, draw.choice(POSITIONS), separator, draw)
        _add(rows, labels, cut(text), span, embedder, draw)
    return _regression(np.vstack(rows), np.concatenate(labels))


def _add(
    rows: list[Matrix],
    labels: list[Row],
    pieces: Windows,
    attack: Span | None,
    embedder: Callable[[Sequence[str]], Vectors],
    draw: random.Random | None = None,
) -> None:
    """Add the windows of a passage; of an attacked one, few of the clean windows."""
    if not has_context(pieces.texts):
        return
    found = features(pieces.texts, embedder(pieces.texts))
    marks = np.array([_attacked(span, attack) for span in pieces.spans], dtype=float)
    kept = [
        mark > 0 or draw is None or draw.random() < _KEPT_NEGATIVES for mark in marks
    ]
    rows.append(found[kept])
    labels.append(marks[kept])


def _attacked(window: Span, attack: Span | None) -> bool:
    """Say whether at least half of a window is the attack's."""
    if attack is None or not window.overlaps(attack):
        return False
    shared = min(window.end, attack.end) - max(window.start, attack.start)
    return 2 * shared >= len(window)


def _regression(rows: Matrix, labels: Row) -> InjectionHead:
    """Fit by Newton's method, with a ridge over standardized features."""
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    design = np.hstack([(rows - middle) / spread, np.ones((len(rows), 1))])
    ridge = np.full(WIDTH + 1, _RIDGE_FORM)
    ridge[:DIMENSIONS], ridge[-1] = _RIDGE_EMBEDDING, 1e-6
    cost = np.where(labels > 0, 1.0, FALSE_ALARM_COST)
    weights = np.zeros(WIDTH + 1)
    for _ in range(_ROUNDS):
        chances = 1.0 / (1.0 + np.exp(-np.clip(design @ weights, -30.0, 30.0)))
        slope = design.T @ (cost * (chances - labels)) + ridge * weights
        bend = (design * (cost * chances * (1.0 - chances))[:, None]).T @ design
        weights -= np.linalg.solve(bend + np.diag(ridge), slope)
    scaled = weights[:-1] / spread
    return InjectionHead(scaled, float(weights[-1] - middle @ scaled))


def _stories(data: Path) -> list[str]:
    found = []
    for case in json.loads((data / "privacylens" / "cases.json").read_text()):
        found.append(case["vignette"]["story"])
        seen = case["trajectory"]["executable_trajectory"]
        found += [
            message.replace("\\n", "\n").replace('\\"', '"')
            for message in _MESSAGE.findall(seen)[:2]
        ]
    return found


def _answers(data: Path) -> list[str]:
    held = json.loads((data / "poisonedrag" / "nq.json").read_text())
    cases = held.values() if isinstance(held, dict) else held
    return [" ".join(case["adv_texts"][:2]) for case in cases]


def _judgments(data: Path) -> list[str]:
    lines = (data / "spia" / "tab_entities.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    return [text[at : at + 1000] for text in texts for at in (0, 1000, 2000)]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
