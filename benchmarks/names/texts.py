"""
Texts with labels: frames that are filled, and marked texts with other names in them.

A text is a string and spans with types; what is in no span names nobody.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.names.values import Values
from sdrag.detectors.local import mentions
from sdrag.detectors.local.tables import TITLES, common_words, kinds

FOLDER = Path(__file__).parent
_SLOT = re.compile(r"\{(\w+)\}")
_TYPES = {"person": "PERSON", "first": "PERSON", "last": "PERSON", "inverted": "PERSON"}
_TYPES |= {"firm": "ORGANIZATION", "address": "ADDRESS", "place": "LOCATION"}
_TYPES |= {"lowfirst": "PERSON", "initials": ""}
EITHER = "EITHER"
"""The type of spans that count neither way."""


_PARTED = frozenset(
    ("thinglabel", "personlabel", "Nounname", "Verbname", "Adjname", "Ding")
)
"""Of these words, too, a fifth is held out."""
_WEIGHTS = {"prose": 4, "columns": 3, "everyday": 2, "foreign": 0.7, "menus": 0.7}
_SMALL = {"hurried": 0.9, "chat": 0.3, "foreign": 0.02, "everyday": 0.04}
"""How many texts of a register are all in small letters."""


class Marked(NamedTuple):
    """A text and its spans: start, end, type."""

    text: str
    spans: list[tuple[int, int, str]]


class Frames:
    """Fills frames; with `part`, only those of a third, or of the other two."""

    def __init__(self, values: Values, *, held_out: bool | None = None) -> None:
        table = tomllib.loads((FOLDER / "frames.toml").read_text("utf-8"))
        self.values, self.draw = values, values.draw
        self._words = {
            name: _part(row.split("|"), held_out if name in _PARTED else None)
            for name, row in table["words"].items()
        }
        ranks = common_words()
        posts = [w for w, t in kinds().items() if t == "JOB_TITLE" and w in ranks]
        self._words["post"] = _part(posts, held_out)
        self._registers = {
            name: _part(rows, held_out) for name, rows in table["frames"].items()
        }

    def text(self) -> Marked:
        """Return a text of one to four frames."""
        weights = [_WEIGHTS.get(name, 1) for name in self._registers]
        (register,) = self.draw.choices([*self._registers], weights)
        frames = self._registers[register]
        count = self.draw.choice((1, 1, 1, 2, 2, 3, 4))
        join = " " if register == "prose" else "\n"
        text, spans = "", []
        for _ in range(count):
            text += join if text else ""
            made = self._fill(self.draw.choice(frames))
            spans += [(s + len(text), e + len(text), t) for s, e, t in made.spans]
            text += made.text
        if self.draw.random() < _SMALL.get(register, 0.08):
            lower = text.lower()
            text = lower if len(lower) == len(text) else text
        return Marked(text, spans)

    def _fill(self, frame: str) -> Marked:
        text, spans, done = "", [], 0
        for slot in _SLOT.finditer(frame):
            text += frame[done : slot.start()]
            value = self._value(slot[1]).strip()
            type_ = _TYPES.get(slot[1].lower(), "")
            if type_:
                spans.append((len(text), len(text) + len(value), type_))
            text, done = text + value, slot.end()
        return Marked(text + frame[done:], spans)

    def _value(self, slot: str) -> str:
        lower = slot.lower()
        if slot.isupper():
            return self._value(lower).upper()
        made: dict[str, Callable[[], str]] = {
            "person": self.values.full_name,
            "first": lambda: self.values.person()[0],
            "lowfirst": self.values.person()[0].lower,
            "last": lambda: self.values.person()[1],
            "inverted": self.values.inverted,
            "firm": self.values.firm,
            "address": self.values.address,
            "place": self.values.place,
            "harmless": self._harmless,
            "namelike": self._namelike,
            "n": lambda: str(self.draw.randint(1, self.draw.choice((9, 40, 120, 900)))),
            "year": lambda: str(self.draw.randint(1950, 2025)),
            "initials": lambda: "".join(self.draw.choices("ABCDEFGHJKLMNPRSTW", k=2)),
        }
        letters = "".join(self.draw.choices("ABCDEIJKMNPRSTW", k=3))
        made["code"] = lambda: f"{letters}-{self.draw.randint(10, 99999)}"
        made["time"] = lambda: f"{self.draw.randint(0, 23)}:{self.draw.randint(10, 59)}"
        made["ver"] = lambda: f"{self.draw.randint(0, 20)}.{self.draw.randint(0, 12)}"
        made["hex"] = lambda: f"{self.draw.getrandbits(28):07x}"
        made["uuid"] = lambda: (
            f"{self.draw.getrandbits(32):08x}-{self.draw.getrandbits(16):04x}"
        )
        made["host"] = lambda: (
            f"{self.draw.choice(('db', 'web', 'app', 'mx'))}-{self.draw.randint(1, 30)}"
        )
        made["date"] = self._date
        if lower in made:
            return made[lower]()
        if slot in self._words:
            return self.draw.choice(self._words[slot])
        word = self.draw.choice(self._words[lower])
        return word[:1].upper() + word[1:]

    def _harmless(self) -> str:
        words = [self.draw.choice(self._words["harmless_first"])]
        if self.draw.random() < 0.3:
            words.append(self.draw.choice(self._words["harmless_first"]))
        words.append(self.draw.choice(self._words["harmless_last"]))
        return " ".join(words)

    def _namelike(self) -> str:
        """Return what only looks like a name: a ship, a breed, a rose, a dish."""
        first, last = self.values.person()
        noun = self.draw.choice(self._words["nounname"])
        noun = noun.capitalize() if self.draw.random() < 0.6 else noun
        kinds = (
            *(f"{first} {last}", first, last, f"{first} {noun}", f"{last} {noun}"),
            *(f"{first} {last} {noun}", f"{noun} {first}".capitalize()),
            *(f"{first} & {last}", f"{first}'s {noun}", f"{last}'s {noun}"),
            *(f"{self._harmless()}", f"{self.values.place()} {noun}"),
            *(
                f"The {first} {noun}",
                f"{self.draw.choice(self._words['Adjname'])} {noun}",
            ),
            *(
                f"Lady {first}",
                f"St. {first}",
                f"Uncle {last}",
                f"{first} {last}".upper(),
            ),
        )
        return self.draw.choice(kinds)

    def _date(self) -> str:
        day, month = self.draw.randint(1, 28), self.draw.choice(self._words["month"])
        year = self.draw.randint(1990, 2026)
        return self.draw.choice(
            (
                f"{day} {month} {year}",
                f"{year}-{day:02}-11",
                f"{month} {day}",
                f"{day}/4/{year}",
            )
        )


def _part(rows: list[str], held_out: bool | None) -> list[str]:  # noqa: FBT001
    """Return all rows, or the fifth that is held out, or the others."""
    return [row for at, row in enumerate(rows) if held_out in (None, at % 5 == 0)]


_TITLES = re.compile(rf"(?:(?:{'|'.join(TITLES)})\b\.?\s+)+")


def court_cases(path: Path) -> Iterator[Marked]:
    """
    Yield the documents of the Text Anonymization Benchmark that are to tune on.

    Courts, offices and states that identify nobody are not to be found.
    """
    names = {"PERSON": "PERSON", "ORG": "ORGANIZATION", "LOC": "LOCATION"}
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for number, row in enumerate(rows):
        spans = []
        for entity in row["entities"]:
            start, end = entity["start_offset"], entity["end_offset"]
            type_ = names.get(entity["entity_type"], "")
            if entity["identifier_type"] == "NO_MASK" and type_ != "PERSON":
                type_ = ""
            title = _TITLES.match(row["text"], start) if type_ == "PERSON" else None
            spans.append((title.end() if title else start, end, type_))
        if number % 3 != 2:
            yield Marked(row["text"], spans)


def documents(folder: Path) -> Iterator[Marked]:
    """Yield documents in real formats, in which all people are known."""
    for path in sorted(folder.glob("*.json")):
        for row in json.loads(path.read_text("utf-8"))["documents"]:
            text = row["text"]
            spans = [
                (m.span.start, m.span.end, EITHER)
                for m in mentions(text)
                if m.type in ("ORGANIZATION", "LOCATION", "ADDRESS")
            ]
            people = sorted(row["people"], key=len, reverse=True)
            for name in re.finditer("|".join(map(re.escape, people)) or "$^", text):
                spans.insert(0, (*name.span(), "PERSON"))
            yield Marked(text, spans)


def posts(path: Path) -> Iterator[Marked]:
    """Yield posts in the columns of WNUT 2017."""
    names = {"person": "PERSON", "corporation": "ORGANIZATION", "location": "LOCATION"}
    names |= {"group": EITHER, "creative-work": "", "product": ""}
    for block in re.split(r"\n\s*\n", path.read_text("utf-8")):
        text, spans = "", []
        for line in block.splitlines():
            if "\t" not in line:
                continue
            word, tag = line.split("\t")[:2]
            tag = tag.strip() or "O"
            tight = not text or word in ".,!?:;')" or text[-1] in "(#@"
            text += "" if tight else " "
            kind = names.get(tag.partition("-")[2], "")
            if tag[0] == "I" and spans and spans[-1][2] == kind:
                spans[-1] = (spans[-1][0], len(text) + len(word), kind)
            elif tag[0] != "O":
                spans.append((len(text), len(text) + len(word), kind))
            text += word
        if text:
            yield Marked(text, spans)


def swap(marked: Marked, values: Values) -> Marked:
    """Return a marked text with other people, firms and places in it."""
    made = {
        "PERSON": values.full_name,
        "ORGANIZATION": values.firm,
        "LOCATION": values.place,
    }
    text, spans, done, known = "", [], 0, {}
    for start, end, type_ in sorted(
        marked.spans, key=lambda s: (s[0], s[2] != "PERSON")
    ):
        if start < done:
            continue
        old = marked.text[start:end]
        text += marked.text[done:start]
        if type_ in made and values.draw.random() < 0.7 and "." not in old:
            if (type_, old) not in known:
                short = type_ == "PERSON" and " " not in old
                known[type_, old] = (
                    values.person()[values.draw.random() < 0.4]
                    if short
                    else made[type_]()
                )
            new = known[type_, old]
        else:
            new = old
        spans.append((len(text), len(text) + len(new), type_))
        text, done = text + new, end
    return Marked(text + marked.text[done:], spans)
