"""
Masking what links people across documents, next to Presidio and a loop of `re.sub`.

Documents of about 2,000 characters are written here; people, places and codes recur in
several of them. Presidio masks all it finds, in batches, with a tokenizer of spaCy in
place of a language model, so it finds no names. CLAM finds names too, and masks the
fewest that leave no link. The second table is replacing alone, once it is known what
has to go: the same forms, over the same text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.page.labelled import FILLING, FIRST, LAST
from benchmarks.page.peers import analyzer, batches
from benchmarks.page.sections import Cell, Figures
from benchmarks.page.timing import medians
from sdrag.detectors.local import LocalDetector
from sdrag.linkage.masking import mask_corpus
from sdrag.linkage.replacing import Masker
from sdrag.vocabulary import Entity, Passage

__all__ = ["measure"]

PACKAGES = ("presidio_analyzer", "presidio_anonymizer", "spacy", "ahocorasick_rs")


def measure(*, quick: bool) -> Figures:
    """Measure masking, then replacing alone."""
    count, forms, characters, rounds = (
        (10, 100, 20_000, 1) if quick else (200, 2000, 200_000, 3)
    )
    tables = {"masked": masked(count, rounds), "replaced": []}
    for size in (forms // 10, forms):
        tables["replaced"] += replaced(size, characters, rounds)
    last = {str(row["by"]): row for row in tables["replaced"][-3:]}
    facts = {
        "replacing": last["a loop of `re.sub`"]["time next to sdrag"],
        "forms": forms,
    }
    return Figures(tables, facts, PACKAGES)


def masked(count: int, rounds: int) -> list[dict[str, Cell]]:
    """Mask a corpus from text to text."""
    texts, people = corpus(count)
    passages = [Passage(f"d{n}", text) for n, text in enumerate(texts)]
    by_presidio = batches(analyzer())
    by_clam = partial(mask_corpus, detector=LocalDetector())
    contenders: dict[str, Callable[[], Sequence[str]]] = {
        "sdrag, CLAM": lambda: [one.text for one in by_clam(passages).documents],
        "Presidio, in batches": lambda: by_presidio(texts),
    }
    times = medians(_numbered(contenders), rounds)
    return [
        {
            "by": name,
            "documents": count,
            "KB a second": sum(map(len, texts)) / 1000 / times[name],
            "time next to sdrag": times[name] / times["sdrag, CLAM"],
            "people still in two documents": linked(work(), people) / len(people),
        }
        for name, work in contenders.items()
    ]


def replaced(forms: int, characters: int, rounds: int) -> list[dict[str, Cell]]:
    """Replace known forms in one text."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghij", k=7)).title() for _ in range(forms + 1)]
    names = [f"{words[n]} {words[n + 1]}" for n in range(forms)]
    parts = [
        rng.choice(names if n % 9 == 0 else FILLING) for n in range(characters // 60)
    ]
    text = " ".join(parts)
    masker = Masker([Entity(f"e{n}", "NAME", (one,)) for n, one in enumerate(names)])
    several = [re.compile(rf"\b{re.escape(one)}\b") for one in names]
    joined = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")

    def loop() -> str:
        rest = text
        for one in several:
            rest = one.sub("[NAME]", rest)
        return rest

    contenders: dict[str, Callable[[], object]] = {
        "sdrag, one pass": lambda: masker.replace(text),
        "a loop of `re.sub`": loop,
        "`re.sub`, all forms joined": lambda: joined.sub("[NAME]", text),
    }
    times = medians(_numbered(contenders), rounds)
    return [
        {
            "by": name,
            "forms": forms,
            "MB a second": len(text) / 1e6 / times[name],
            "time next to sdrag": times[name] / times["sdrag, one pass"],
        }
        for name in contenders
    ]


def corpus(count: int) -> tuple[list[str], list[str]]:
    """Write documents in which people recur, and name the people who do."""
    rng = random.Random(3)
    people = [
        f"{rng.choice(FIRST)} {rng.choice(LAST)}{rng.choice(('', '-Hart', '-Boone'))}"
        for _ in range(count // 2)
    ]
    people = sorted(set(people))
    texts = []
    for number in range(count):
        sentences = []
        for person in rng.sample(people, min(3, len(people))):
            code = f"AB{rng.randrange(count):05d}"
            sentences += [
                f"{person} signed form {code} on {rng.randint(1, 28)} March 1987.",
                *rng.choices(FILLING, k=8),
            ]
        texts.append(f"Note {number}. {' '.join(sentences)}")
    recurring = [one for one in people if sum(one in text for text in texts) > 1]
    return texts, recurring


def linked(texts: Sequence[str], people: Sequence[str]) -> int:
    """Count the people that two documents still name."""
    return sum(sum(one in text for text in texts) > 1 for one in people)


def _numbered(contenders: Any) -> dict[str, Callable[[int], object]]:
    return {name: lambda _, work=work: work() for name, work in contenders.items()}
