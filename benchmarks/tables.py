"""
Derive three tables of the local detector from WordNet 3.0.

`kinds.txt`: seldom words for trades, illnesses, treatments, kin, faiths, intoxicants
and weapons, by the class of their first sense. Frequent words have too many senses to
be sorted so; those are picked by hand in `terms.py`. `peoples.txt`: the names of
peoples and the adjectives of places. `geography.txt`: countries, regions, towns, seas.

    apt-get download wordnet-base && dpkg-deb -x wordnet-base*.deb wordnet
    python benchmarks/tables.py wordnet/usr/share/wordnet
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdrag.detectors.local.tables import common_words, first_names, surnames

TABLES = Path("shared/sdrag/detectors/local/tables")
FREQUENT = 14_000
"""Words more frequent than this are left out of `kinds.txt`."""

# Class: the WordNet synsets (a lemma and the number of its sense) it is made of.
ROOTS = {
    "JOB_TITLE": "worker.1 professional.1 employee.1 official.1 serviceman.1 "
    "runner.1 artist.1 educator.1 businessperson.1 clergyman.1 student.1 "
    "scientist.1 skilled_worker.1 scholar.1 administrator.1 "
    "head.4 owner.1 policeman.1 officer.1",
    "CONDITION": "ill_health.1 illness.1 disability.1 mental_illness.1 "
    "mental_disorder.1 symptom.1 injury.1 pregnancy.1 disorder.1 addiction.1",
    "TREATMENT": "medicine.2 surgery.1 therapy.1 operation.6",
    "RELATION": "relative.1 spouse.1",
    "RELIGION": "religion.1 religion.2",
    "SUBSTANCE": "controlled_substance.1 narcotic.1 hallucinogen.1 drug_of_abuse.1",
    "WEAPON": "weapon.1 ammunition.1 explosive.1",
}
PEOPLES = "inhabitant.1 ethnic_group.1 religious_person.1"
_PLACES = "15"
"""The lexicographer's file that holds places."""


@dataclass(frozen=True, slots=True)
class Synset:
    """
    One sense.

    Args:
        file: The lexicographer's file.
        words: Its lemmas as written.
        links: Pairs of a pointer's symbol and its target.
    """

    file: str
    words: tuple[str, ...]
    links: tuple[tuple[str, str], ...]


def synsets(path: Path) -> dict[str, Synset]:
    """Read a data file, by offset (wndb(5WN))."""
    read = {}
    for line in _lines(path):
        fields = line.split("|")[0].split()
        count = int(fields[3], 16)
        words = tuple(w.split("(")[0] for w in fields[4 : 4 + 2 * count : 2])
        start = 5 + 2 * count
        links = fields[start : start + 4 * int(fields[start - 1])]
        read[fields[0]] = Synset(
            fields[1], words, tuple(zip(links[::4], links[1::4], strict=True))
        )
    return read


def senses(path: Path) -> dict[str, list[str]]:
    """Read an index file: each lemma's synsets, the most frequent first."""
    rows = (line.split() for line in _lines(path))
    return {row[0]: row[-int(row[2]) :] for row in rows}


def kinds(folder: Path) -> Iterator[str]:
    """Yield a word and its class, by the class of its first sense."""
    nouns, order = synsets(folder / "data.noun"), senses(folder / "index.noun")
    others = senses(folder / "index.adj").keys() | senses(folder / "index.adv").keys()
    classes = {
        name: _below(nouns, _roots(order, roots), ("@",))
        for name, roots in ROOTS.items()
    }
    for word, offsets in order.items():
        frequent = common_words().get(word, FREQUENT) < FREQUENT
        if frequent or word in others or not re.fullmatch("[a-z]{4,}", word):
            continue
        for name, members in classes.items():
            if offsets[0] in members and word in nouns[offsets[0]].words:
                yield f"{word} {name}"
                break


def peoples(folder: Path) -> set[str]:
    """Return names of peoples, and adjectives that pertain to a place.

    What is a given name or an English word too is left out.
    """
    nouns, order = synsets(folder / "data.noun"), senses(folder / "index.noun")
    people = _below(nouns, _roots(order, PEOPLES), ("@",))
    chosen = {word for offset in people for word in nouns[offset].words}
    for synset in synsets(folder / "data.adj").values():
        targets = [nouns.get(t) for symbol, t in synset.links if symbol == "\\"]
        if any(target and target.file == _PLACES for target in targets):
            chosen.update(synset.words)
    return {
        word
        for word in chosen
        if re.fullmatch("[A-Z][a-z]{3,}", word)
        and word.lower() not in common_words()
        and word not in first_names()
    }


def geography(folder: Path) -> set[str]:
    """Return names of places; of single words those that are nothing else."""
    chosen = set()
    for synset in synsets(folder / "data.noun").values():
        if synset.file == _PLACES and any(symbol == "@i" for symbol, _ in synset.links):
            chosen.update(word.replace("_", " ") for word in synset.words)
    return {
        name
        for name in chosen
        if re.fullmatch(r"[A-Z][a-z]{3,}(?:[ -](?:[A-Z][a-z]+|of|and|the))*", name)
        and (
            " " in name
            or (
                name.lower() not in common_words()
                and name not in first_names() | surnames()
            )
        )
    }


def _roots(order: dict[str, list[str]], roots: str) -> list[str]:
    pairs = (root.rsplit(".", 1) for root in roots.split())
    return [order[lemma][int(number) - 1] for lemma, number in pairs if lemma in order]


def _below(
    nouns: dict[str, Synset], roots: list[str], upward: tuple[str, ...]
) -> set[str]:
    """Return the roots and everything that is a kind of them."""
    under = defaultdict(list)
    for offset, synset in nouns.items():
        for symbol, target in synset.links:
            if symbol in upward:
                under[target].append(offset)
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        offset = waiting.pop()
        if offset not in seen:
            seen.add(offset)
            waiting += under[offset]
    return seen


def _lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith(" ")]


def _write(name: str, lines: set[str]) -> None:
    path = TABLES / f"{name}.txt"
    path.write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")


def main() -> None:
    """Write the tables."""
    folder = Path(sys.argv[1])
    _write("kinds", set(kinds(folder)))
    _write("peoples", peoples(folder))
    _write("geography", geography(folder))


if __name__ == "__main__":
    main()
