"""
Derive the tables of the guard after the answer from WordNet 3.0.

`opposites.txt`: pairs of frequent words that WordNet calls antonyms. `irregular.txt`:
frequent words whose base form no rule of endings gives.

    apt-get download wordnet-base && dpkg-deb -x wordnet-base*.deb wordnet
    python benchmarks/tools/word_tables.py wordnet/usr/share/wordnet
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from sdrag.detectors.local.tables import common_words
from sdrag.guardrails.comparable_words import word_set

TABLES = Path("shared/sdrag/guardrails/agreement")
FREQUENT = {"opposites": 16_000, "irregular": 40_000}
"""Words that are less frequent are left out of a table."""
AMBIGUOUS = word_set(
    "bases cola dive dove felt found ground leaves left lives masses might wound"
)
"""Forms that are more often words of their own."""
PARTS = ("adj", "adv", "noun", "verb")
SAME = word_set(
    "be do have man make get go come take give set put day night land sea home air body"
    " soul mind matter nature art fact foot head hand face back side self other new"
    " thing word work play man woman men women"
)
"""Words of too many senses; their antonyms hold in one of these only."""
GRAMMAR = word_set(
    "after all and any before both down each for from here in more most much many no"
    " none not on out over some that then there this to under up with without"
)
"""Words of grammar, which have rules of their own."""


def lines(path: Path) -> Iterator[list[str]]:
    """Yield the fields of a file's lines, without its licence."""
    for line in path.read_text(encoding="ascii").splitlines():
        if not line.startswith("  "):
            yield line.split("|")[0].split()


def synsets(path: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Read a data file: the words and the pointers of each synset (wndb(5WN))."""
    read = {}
    for fields in lines(path):
        count = int(fields[3], 16)
        words = [word.split("(")[0] for word in fields[4 : 4 + 2 * count : 2]]
        start = 5 + 2 * count
        read[fields[0]] = words, fields[start : start + 4 * int(fields[start - 1])]
    return read


def antonyms(folder: Path, part: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of one part of speech."""
    read = synsets(folder / f"data.{part}")
    for words, links in read.values():
        for symbol, target, _, places in zip(*[iter(links)] * 4, strict=True):
            if symbol == "!":
                source, to = bytes.fromhex(places)
                yield words[source - 1], read[target][0][to - 1]


def main(folder: Path) -> None:
    """Write both tables."""
    known = {
        table: frozenset(islice(common_words(), rank)) - GRAMMAR
        for table, rank in FREQUENT.items()
    }
    pairs = {
        tuple(sorted(pair))
        for part in PARTS
        for pair in antonyms(folder, part)
        if (known["opposites"] - SAME).issuperset(pair)
    }
    irregular = {
        (fields[0], fields[1])
        for part in ("noun", "verb")
        for fields in lines(folder / f"{part}.exc")
        if known["irregular"].issuperset(fields[:2])
        and fields[0] not in AMBIGUOUS | {fields[1]}
    }
    for name, rows in (("opposites", pairs), ("irregular", irregular)):
        text = "".join(f"{left} {right}\n" for left, right in sorted(rows))
        (TABLES / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
