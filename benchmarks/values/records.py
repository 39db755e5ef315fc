"""
Records with values of every kind, in the carriers that people have.

What a value is called stands in `values.toml`, in twenty languages; what is written is
drawn by forms, and by Faker (MIT) for names, addresses, dates and the like.
"""

from __future__ import annotations

import random
import re
import string
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from faker import Faker

TABLES: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("values.toml").read_text("utf-8")
)
_LOCALES = [
    "en_GB",
    "en_US",
    "de_DE",
    "fr_FR",
    "es_ES",
    "it_IT",
    "nl_NL",
    "pl_PL",
    "pt_PT",
    "sv_SE",
    "fi_FI",
    "cs_CZ",
    "en_AU",
    "en_IN",
    "da_DK",
    "de_CH",
    "ga_IE",
    "tr_TR",
    "hu_HU",
    "ro_RO",
]
_OFTEN = {"other": 6.0, "quantity": 3.0, "date": 3.0, "money": 3.0} | dict.fromkeys(
    ("room", "time", "person", "place", "reference"), 2.0
)
_MONTHS = [
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "June",
    "July",
    "Aug",
    "Sept",
    "Oct",
    "Nov",
    "Dec",
]
_DRAWN = {
    "9": string.digits,
    "A": string.ascii_uppercase,
    "a": string.ascii_lowercase,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
}


class Marked(NamedTuple):
    """A text, and where in it values of which kinds are."""

    text: str
    values: list[tuple[int, int, str]]


def read_list(text: str) -> list[str]:
    """Return the entries of a list of the tables."""
    return [" ".join(entry.split()) for entry in text.split(";") if entry.strip()]


class Records:
    """
    Draws records; the same seed gives the same ones.

    Args:
        seed: Of all that is drawn.
    """

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self._fakers = [Faker(locale) for locale in _LOCALES]
        for each in self._fakers:
            each.seed_instance(self.draw.random())
        self._labels = {k: read_list(v) for k, v in TABLES["labels"].items()}
        self._words = {k: read_list(v) for k, v in TABLES["words"].items()}
        self._forms = {k: read_list(v) for k, v in TABLES["forms"].items()}
        self._around = [
            around.partition("|")[::2]
            for around in read_list(TABLES["prose"]["around"])
        ]
        self._owners = TABLES["prose"]["owners"].split()
        self._layouts: tuple[Callable[[_Writing, _Rows], None], ...] = (
            *(self._json, self._json, self._fields, self._fields, self._table),
            *(self._table, self._settings, self._markup, self._fields, self._markdown),
            *(self._prose, self._prose, self._prose, self._log, self._columns),
            *(self._brackets, self._table),
        )

    def record(self) -> Marked:
        """Return a record of two to six values."""
        kinds: list[str] = []
        weights = [_OFTEN.get(kind, 1.5) for kind in self._labels]
        many = self.draw.randint(2, 6)
        while len(kinds) < many:
            (kind,) = self.draw.choices([*self._labels], weights)
            if kind == "other" or kind not in kinds:
                kinds.append(kind)
        labels = [self._label(kind) for kind in kinds]
        rows = [[self.value(kind) for kind in kinds] for _ in range(3)]
        writing = _Writing()
        self.draw.choice(self._layouts)(writing, _Rows(kinds, labels, rows))
        return Marked(writing.text, writing.values)

    def _label(self, kind: str) -> str:
        label, chance = self.draw.choice(self._labels[kind]), self.draw.random()
        if chance < 0.2:
            return label.lower().replace(" ", "_").replace(".", "")
        if chance < 0.3:
            joined = "".join(word.capitalize() for word in label.split())
            return joined[:1].lower() + joined[1:]
        if chance < 0.38:
            return label.upper()
        if chance < 0.5:
            return label[:1].upper() + label[1:]
        if chance < 0.55:
            return f"{self.draw.choice(self._owners)}{self.draw.choice(' _')}{label}"
        return label

    def value(self, kind: str) -> str:
        """Return a value of a kind."""
        own = getattr(self, f"_{kind}", None)
        choices: list[Callable[[], str]] = [own] if own else []
        if kind in self._forms:
            choices.append(lambda: self._fill(self.draw.choice(self._forms[kind])))
        if kind in self._words:
            choices.append(lambda: self.draw.choice(self._words[kind]))
        if not choices or (kind in ("patient", "tracking", "serial", "case")):
            choices += [self._code] * 3
        return self.draw.choice(choices)()

    def _fill(self, form: str) -> str:
        return "".join(self.draw.choice(_DRAWN.get(c, c)) for c in form)

    def _code(self) -> str:
        return self._fill(self.draw.choice(self._forms["code"]))

    @property
    def _faker(self) -> Faker:
        return self.draw.choice(self._fakers)

    def _phone(self) -> str:
        return str(self._faker.phone_number())

    def _email(self) -> str:
        fake = self._faker
        name = self.draw.choice((fake.user_name(), fake.first_name().lower()))
        return f"{name}@{fake.domain_word()}.example"

    def _ip(self) -> str:
        end = self.draw.choice(("", "", "", "/24", ":8080"))
        return str(self._faker.ipv4()) + end

    def _username(self) -> str:
        fake, many = self._faker, self.draw.randint(1, 99)
        first, last = fake.first_name().lower(), fake.last_name().lower()
        return self.draw.choice(
            (
                *(fake.user_name(), f"@{fake.user_name()}", f"{first}{many}"),
                *(f"{last}_{first[:1]}", f"{first[:1]}{last}", f"{first}.{last}"),
                f"{fake.word()}_{fake.word()}",
            )
        ).replace(" ", "")

    def _credential(self) -> str:
        fake, many = self._faker, self.draw.randint(10, 999)
        first, second, mark = fake.word(), fake.word(), self.draw.choice("!?$#_-.")
        return self.draw.choice(
            (
                fake.password(length=self.draw.randint(8, 16)),
                f"{first.capitalize()}{mark}{second}{many}",
                f"{first}{many}!",
                f"{first}-{second}-{fake.word()}",
            )
        )

    def _account(self) -> str:
        return str(self._faker.iban())

    def _card(self) -> str:
        return str(self._faker.credit_card_number())

    def _birth(self) -> str:
        return self._day(1921, 2012)

    def _date(self) -> str:
        return self._day(1985, 2031)

    def _day(self, first: int, last: int) -> str:
        draw = self.draw
        y, m, d = draw.randint(first, last), draw.randint(1, 12), draw.randint(1, 28)
        month = _MONTHS[m - 1]
        return draw.choice(
            (
                *(f"{y}-{m:02}-{d:02}", f"{d:02}/{m:02}/{y}", f"{d:02}.{m:02}.{y}"),
                *(f"{d}.{m}.{y}", f"{d} {month} {y}", f"{month} {d}, {y}", f"{y}"),
                *(f"{y}/{m:02}/{d:02}", f"{y}{m:02}{d:02}", f"{d:02}-{m:02}-{y}"),
                *(f"{d:02}.{m:02}.{y % 100:02}", f"{m:02}/{d:02}/{y}"),
                *(
                    f"{d:02}{m:02}{y}",
                    f"{d}-{month}-{y}",
                    f"{d:02}/{m:02}/{y % 100:02}",
                ),
            )
        )

    def _age(self) -> str:
        unit = ("", "", "", " years", " yrs", " J.", " ans", " años", " anni", " jaar")
        unit += (" lat", "y", "yo", " y/o")
        return f"{self.draw.randint(1, 99)}{self.draw.choice(unit)}"

    def _salary(self) -> str:
        ranges = ((11, 60), (900, 9900), (12_000, 190_000))
        end = self.draw.choice(("", "", "", " p.a.", " per month", "/h"))
        return self._sum(self.draw.randint(*self.draw.choice(ranges))) + end

    def _money(self) -> str:
        ranges = ((5, 99), (100, 9999), (10_000, 99_999), (100_000, 9_000_000))
        return self._sum(self.draw.randint(*self.draw.choice(ranges)))

    def _sum(self, whole: int) -> str:
        coin = self.draw.choice(
            ("\u20ac", "\u00a3", "$", "EUR", "CHF", "kr", "z\u0142")
        )
        cents = self.draw.choice(("", ".00", ".50", f".{self.draw.randint(10, 99)}"))
        thousands = f"{whole:,}"
        continental = thousands.replace(",", ".") + cents.replace(".", ",")
        return self.draw.choice(
            (
                *(f"{coin}{thousands}{cents}", f"{coin} {thousands}{cents}"),
                *(f"{thousands}{cents}", f"{continental} {coin}", continental),
                *(f"{whole}", f"{whole}{cents}", f"{whole} {coin}", f"{coin}{whole}"),
                thousands.replace(",", " ") + cents.replace(".", ","),
                f"{whole / 1000:.1f}k" if whole > 999 else f"{whole}",
            )
        )

    def _place(self) -> str:
        fake = self._faker
        city = fake.city()
        country = fake.country()
        return self.draw.choice((city, city, country, f"{city}, {country}"))

    _birthplace = _place

    def _address(self) -> str:
        fake = self._faker
        street = fake.street_address()
        town = f"{fake.postcode()} {fake.city()}"
        whole = fake.address()
        return self.draw.choice((whole, street, f"{street}, {town}")).replace(
            "\n", ", "
        )

    def _person(self) -> str:
        fake = self._faker
        first, last = fake.first_name(), fake.last_name()
        names = (fake.name(), f"{last}, {first}", first, last, f"{first[:1]}. {last}")
        return self.draw.choice(names)

    def _firm(self) -> str:
        return str(self._faker.company())

    def _coordinates(self) -> str:
        lat, lon = self.draw.uniform(-89, 89), self.draw.uniform(-179, 179)
        return self.draw.choice((f"{lat:.5f}, {lon:.5f}", f"{lat:.4f}"))

    def _other(self) -> str:
        fake = self._faker
        first, second = fake.word(), fake.word()
        return self.draw.choice(
            (
                *(self._code(), self._code(), first, first.capitalize(), fake.city()),
                *(f"{first} {second}", f"{first}_{second}", fake.bs()),
                f"{first}-{self.draw.randint(10, 99)}",
                self._fill(self.draw.choice(self._forms["other_forms"])),
            )
        )

    def _json(self, out: _Writing, given: _Rows) -> None:
        for row in given.rows[: self.draw.randint(1, 2)]:
            out.write("{")
            for at, (kind, label, value) in enumerate(given.of(row)):
                out.write(f'{", " if at else ""}"{_key(label)}": ')
                plain = value.replace('"', "'").replace("\\", "")
                bare = (
                    plain.isdecimal() and plain[0] != "0" and self.draw.random() < 0.5
                )
                out.mark(plain, kind, "" if bare else '"')
            out.write("}\n")

    def _fields(self, out: _Writing, given: _Rows) -> None:
        mark = self.draw.choice((": ", ": ", ":  ", " : ", " - "))
        for kind, label, value in given.of(given.rows[0]):
            out.write(label + mark)
            out.mark(value, kind)
            out.write("\n")

    def _settings(self, out: _Writing, given: _Rows) -> None:
        capitals = self.draw.random() < 0.5
        for kind, label, value in given.of(given.rows[0]):
            out.write(f"{_key(label.upper() if capitals else label)}=")
            out.mark(value, kind, self.draw.choice(("", '"', "'")))
            out.write("\n")

    def _markup(self, out: _Writing, given: _Rows) -> None:
        out.write("<row>")
        for kind, label, value in given.of(given.rows[0]):
            out.write(f"<{_key(label)}>")
            out.mark(value.replace("<", "").replace("&", ""), kind)
            out.write(f"</{_key(label)}>")
        out.write("</row>")

    def _table(self, out: _Writing, given: _Rows) -> None:
        self._rows(out, given, self.draw.choice((",", ";", "\t", " | ")))

    def _markdown(self, out: _Writing, given: _Rows) -> None:
        self._rows(out, given, " | ", under="---")

    def _rows(self, out: _Writing, given: _Rows, mark: str, under: str = "") -> None:
        out.write(mark.join(given.labels) + "\n")
        if under:
            out.write(mark.join([under] * len(given.labels)) + "\n")
        for row in given.rows[: self.draw.randint(1, 3)]:
            for at, (kind, _, value) in enumerate(given.of(row)):
                out.write(mark if at else "")
                out.mark(value.replace(mark.strip() or "\t", " "), kind)
            out.write("\n")

    def _columns(self, out: _Writing, given: _Rows) -> None:
        rows = given.rows[: self.draw.randint(1, 3)]
        widths = [
            max(map(len, column)) + 2
            for column in zip(given.labels, *rows, strict=True)
        ]
        heads = zip(given.labels, widths, strict=True)
        out.write("".join(label.upper().ljust(n) for label, n in heads).rstrip() + "\n")
        for row in rows:
            for (kind, _, value), width in zip(given.of(row), widths, strict=True):
                out.mark(value, kind)
                out.write(" " * (width - len(value)))
            out.write("\n")

    def _log(self, out: _Writing, given: _Rows) -> None:
        level = self.draw.choice(("INFO", "WARN", "ERROR"))
        out.write(self._fill("2025-09-19T19:39:19Z ") + level + " ")
        for kind, label, value in given.of(given.rows[0]):
            out.write(_key(label) + self.draw.choice(("=", "=", ": ", " ")))
            out.mark(value.replace(" ", ""), kind)
            out.write(" ")

    def _brackets(self, out: _Writing, given: _Rows) -> None:
        out.write(str(self._faker.name()))
        for kind, label, value in given.of(given.rows[0]):
            opening = self.draw.choice((" (", ", ", " / ", "; "))
            out.write(opening + label + self.draw.choice((" ", ": ", ". ")))
            out.mark(value, kind)
            out.write(")" if "(" in opening else "")

    def _prose(self, out: _Writing, given: _Rows) -> None:
        for kind, label, value in given.of(given.rows[0]):
            before, after = self.draw.choice(self._around)
            before = before.format(label)
            if self.draw.random() < 0.6:
                before = before[:1].upper() + before[1:]
            out.write(before)
            out.mark(value, kind)
            out.write(f" {after}" if after[:1].isalpha() else after)
            out.write(self.draw.choice((". ", ", ", "; ", ". ")))


class _Rows(NamedTuple):
    kinds: Sequence[str]
    labels: Sequence[str]
    rows: Sequence[Sequence[str]]

    def of(self, row: Sequence[str]) -> list[tuple[str, str, str]]:
        return list(zip(self.kinds, self.labels, row, strict=True))


class _Writing:
    """A text that grows, with its values."""

    def __init__(self) -> None:
        self.text = ""
        self.values: list[tuple[int, int, str]] = []

    def write(self, text: str) -> None:
        self.text += text

    def mark(self, value: str, kind: str, quote: str = "") -> None:
        start = len(self.text) + len(quote)
        self.text += quote + value + quote
        if value:
            self.values.append((start, start + len(value), kind))


def _key(label: str) -> str:
    """Return a label as keys of data are written."""
    key = re.sub(r"[^\w-]+", "_", label).strip("_")
    return key if key[:1].isalpha() else f"n{key}"
