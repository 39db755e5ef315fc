"""
People, firms and addresses of the world, as texts in English write them.

Faker (MIT) knows names, firms and streets of some seventy locales; what it does not
know is made here: everyday words as names, firms called after animals and trees,
addresses in the order of other countries.
"""

from __future__ import annotations

import random
import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from faker import Faker

from sdrag.detectors.local import tables

_LISTS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
LATIN = tuple(_LISTS["latin"].split())
HELD_OUT = tuple(_LISTS["held_out"].split())
"""Locales that are not trained on, where figures are to say something of others."""
TRANSCRIBED = tuple(_LISTS["transcribed"].split())
_LETTERS = _LISTS["letters"]
"""How Greek and Cyrillic letters are written in Latin ones."""
_SUFFIXES = _LISTS["suffixes"].split("|")
_TRADES = _LISTS["trades"].split("|")
_STREETS = _LISTS["streets"].split("|")
_BEFORE = _LISTS["before"].split("|")
_AFTER = _LISTS["after"].split("|")
_UNITS = _LISTS["units"].split("|")
_NUMBERED = _LISTS["numbered"].split("|")
_TAILS = _LISTS["tails"].split("|")
_PARTICLES = ("de", "van", "von", "de la", "da", "bin", "al", "van der", "dos", "del")


class Values:
    """
    Draws values; the same seed gives the same ones.

    Args:
        locales: Of Faker, to draw from.
        draw: Source of randomness.
    """

    def __init__(self, locales: tuple[str, ...], draw: random.Random) -> None:
        self.draw = draw
        self._fakers = [_faker(locale) for locale in locales]
        for each in self._fakers:
            each.seed_instance(draw.random())

    @cached_property
    def everyday(self) -> tuple[list[str], list[str]]:
        """Given names and family names that are English words, too."""
        given, family = tables.first_names(), tables.surnames()
        ranks = tables.common_words()
        order = [
            sorted(n for n in names if n.lower() in ranks) for names in (given, family)
        ]
        words = [w.capitalize() for w in ranks if ranks[w] < 9000 and 3 < len(w) < 9]
        return order[0], order[1] + self.draw.sample(words, 300)

    def person(self) -> tuple[str, str]:
        """Return a given name and a family name."""
        draw = self.draw
        if draw.random() < 0.3:
            first, last = self.everyday
            return draw.choice(first), draw.choice(last)
        faker = draw.choice(self._fakers)
        if hasattr(faker, "romanized_name"):
            first, _, last = faker.romanized_name().rpartition(" ")
            return _plain(first), _plain(last)
        first, last = _plain(faker.first_name()), _plain(faker.last_name())
        if draw.random() < 0.06:
            last = f"{draw.choice(_PARTICLES)} {last}"
        if draw.random() < 0.05:
            last = f"{last}-{_plain(draw.choice(self._fakers).last_name())}"
        if draw.random() < 0.04:
            last = draw.choice(("O'", "Mc", "Mac", "D'", "Al-", "El-")) + last
        return first, last

    def full_name(self) -> str:  # noqa: C901, PLR0911 -- a table of forms
        """Return a name in one of the ways in which people write it."""
        draw = self.draw
        first, last = self.person()
        kind = draw.random()
        if kind < 0.62:
            return f"{first} {last}"
        if kind < 0.70:
            return f"{first[0]}. {last}"
        if kind < 0.74:
            return f"{first[0]}. {draw.choice('ABCDEFGHJKLMRST')}. {last}"
        if kind < 0.79:
            return f"{first} {draw.choice('ABCDEFGHJKLMRST')}. {last}"
        if kind < 0.83:
            return f"{first} {self.person()[0]} {last}"
        if kind < 0.87:
            return self.inverted()
        if kind < 0.90:
            return f"{last} {first}"
        if kind < 0.93:
            return f"{first} {last}".upper()
        if kind < 0.95:
            return f"{first} {last.upper()}"
        if kind < 0.97:
            return f'{first} "{self.person()[0]}" {last}'
        if kind < 0.985:
            return f"{first} {last} {draw.choice(('Jr.', 'Sr.', 'III', 'II'))}"
        return f"{first}-{self.person()[0]} {last}"

    def inverted(self) -> str:
        """Return a name with the family name in front."""
        first, last = self.person()
        given = first if self.draw.random() < 0.7 else f"{first[0]}."
        return f"{last.upper() if self.draw.random() < 0.4 else last}, {given}"

    def firm(self) -> str:  # noqa: PLR0911 -- a table of forms
        """Return a firm."""
        draw = self.draw
        kind = draw.random()
        word = self._coined() if draw.random() < 0.4 else self._noun()
        if kind < 0.25:
            return _plain(draw.choice(self._fakers).company())
        last = self.person()[1]
        if kind < 0.42:
            name = draw.choice((last, word, f"{self._noun()} {self._noun()}"))
            return f"{name} {draw.choice(_TRADES)}"
        if kind < 0.58:
            name = draw.choice((last, word, f"{self._noun()} {self._noun()}"))
            trade = f" {draw.choice(_TRADES)}" if draw.random() < 0.4 else ""
            return f"{name}{trade} {draw.choice(_SUFFIXES)}"
        if kind < 0.66:
            join = draw.choice((" & ", " and ", "-", " + "))
            one = draw.choice((last, word))
            return f"{one}{join}{draw.choice((self.person()[1], self._noun()))}"
        if kind < 0.72:
            comma = draw.choice((",", ""))
            join = draw.choice(("and", "&"))
            return f"{last}, {self.person()[1]}{comma} {join} {self.person()[1]}"
        if kind < 0.80:
            return f"{self._noun()} {self._noun()}"
        if kind < 0.86:
            return "".join(draw.choices("ABCDEFGHIKLMNOPRSTVWXZ", k=draw.randint(3, 4)))
        if kind < 0.88:
            return "{}&{}".format(*draw.choices("ABCDEFGHKLMPRSTW", k=2))
        if kind < 0.90:
            kind_of = draw.choice(_LISTS["firms_of"].split("|"))
            return f"{kind_of} {draw.choice((last, word))}"
        return word

    def address(self) -> str:
        """Return an address in one line."""
        draw = self.draw
        if draw.random() < 0.3:
            faker = draw.choice(self._fakers)
            whole = faker.address() if draw.random() < 0.5 else faker.street_address()
            return _plain(whole).replace(",\n", ", ").replace("\n", ", ")
        street = self._street()
        if draw.random() < 0.22:
            unit = f"{draw.choice(_UNITS)} {self._number()}"
            street = f"{unit}{draw.choice((', ', ' ', '/'))}{street}"
        elif draw.random() < 0.12:
            the = "The " * (draw.random() < 0.3)
            house = f"{self._noun()} {draw.choice(_LISTS['houses'].split('|'))}"
            street = f"{the}{house}, {street}"
        if draw.random() < 0.6:
            street = f"{street}{draw.choice((', ', ', ', ' '))}{self._town()}"
        return street

    def place(self) -> str:
        """Return a town or a country."""
        draw = self.draw
        if draw.random() < 0.25:
            return draw.choice(_sorted("countries"))
        if draw.random() < 0.6:
            return draw.choice(_sorted("places"))
        return _plain(draw.choice(self._fakers).city())

    def _street(self) -> str:  # noqa: PLR0911 -- a table of forms
        draw = self.draw
        name, number = self._street_name(), self._number()
        kind = draw.random()
        if kind < 0.30:
            comma = "," if draw.random() < 0.08 else ""
            return f"{number}{comma} {name} {draw.choice(_STREETS)}"
        if kind < 0.60:
            if draw.random() < 0.2:  # 12 bis rue des Lilas
                return f"{number} {draw.choice(_BEFORE)} {name}"
            sign = f" {draw.choice(_NUMBERED)}" if draw.random() < 0.3 else ""
            tail = self._tail() if draw.random() < 0.35 else ""
            comma = "," if draw.random() < 0.12 else ""
            return f"{draw.choice(_BEFORE)} {name}{comma}{sign} {number}{tail}"
        if kind < 0.82:
            end = draw.choice(_AFTER)
            tail = self._tail() if draw.random() < 0.25 else ""
            sign = f" {draw.choice(_NUMBERED)}" if draw.random() < 0.06 else ""
            join = "-" if draw.random() < 0.1 and not end.startswith(" ") else ""
            end = end.capitalize() if join else end
            return f"{name}{join}{end}{sign} {number}{tail}"
        if kind < 0.86:
            return f"{name} {number}{self._tail() if draw.random() < 0.3 else ''}"
        if kind < 0.89:
            return f"{draw.choice(_LISTS['boxes'].split('|'))} {number}"
        if kind < 0.92:
            return f"House {number}, Road {draw.randint(1, 40)}, {name}"
        if kind < 0.95:
            letter = draw.choice("ABCDEFG")
            return (
                f"{letter}-{number}, {name} {draw.choice(_LISTS['estates'].split('|'))}"
            )
        if kind < 0.97:
            parts = (str(draw.randint(1, most)) for most in (9, 30, 20))
            return f"{'-'.join(parts)} {name}"
        plot = draw.choice(("Plot", "Lot", "Stand", "Km", "Blok", "Block"))
        return f"{plot} {number} {name} {draw.choice(_STREETS)}"

    def _street_name(self) -> str:  # noqa: PLR0911 -- a table of forms
        draw = self.draw
        kind = draw.random()
        first, last = self.person()
        if kind < 0.35:
            return last
        if kind < 0.6:
            return self._noun()
        if kind < 0.7:
            return f"{first} {last}"
        if kind < 0.8:
            return self.place()
        if kind < 0.85:
            return f"{draw.choice(_LISTS['street_prefixes'].split('|'))} {self._noun()}"
        if kind < 0.88:
            return draw.choice(_LISTS["street_names"].split("|"))
        return f"{self._noun()} {self._noun()}"

    def _number(self) -> str:
        draw = self.draw
        number = str(draw.randint(1, draw.choice((30, 200, 3000))))
        kind = draw.random()
        if kind < 0.1:
            return number + draw.choice("abcABC")
        if kind < 0.14:
            return f"{number}-{int(number) + 2}"
        if kind < 0.18:
            return f"{number}/{draw.randint(1, 30)}"
        return number

    def _tail(self) -> str:
        tail = self.draw.choice(_TAILS)
        return tail.format(n=self.draw.randint(1, 40), L=self.draw.choice("ABCD"))

    def _town(self) -> str:
        draw = self.draw
        faker = draw.choice(self._fakers)
        town = _plain(
            faker.city() if draw.random() < 0.6 else draw.choice(_sorted("places"))
        )
        kind = draw.random()
        if kind < 0.3:
            return town
        code = _plain(faker.postcode())
        if kind < 0.6:
            return f"{code} {town}"
        if kind < 0.85:
            return f"{town} {code}"
        state = draw.choice(("CA", "TX", "NSW", "WA", "ON", "NY"))
        return f"{town}, {state} {draw.randint(1001, 99999)}"

    def _noun(self) -> str:
        draw = self.draw
        word = draw.choice(_nouns())
        return word.capitalize()

    def _coined(self) -> str:
        draw = self.draw
        parts = _LISTS["syllables"].split()
        word = "".join(draw.choices(parts, k=draw.randint(2, 3))).capitalize()
        return word.upper() if draw.random() < 0.12 else word


@cache
def _faker(locale: str) -> Faker:
    return Faker(locale)


@cache
def _sorted(table: str) -> list[str]:
    return sorted(getattr(tables, table)())


@cache
def _nouns() -> list[str]:
    ranks = tables.common_words()
    return [
        w
        for w in ranks
        if 300 < ranks[w] < 20_000
        and 3 < len(w) < 10
        and w not in tables.FUNCTION_WORDS
    ]


def _plain(text: str) -> str:
    """Return a text in Latin letters, without the titles that Faker puts in front."""
    written = "".join(
        _LETTERS.get(c, c) if c.islower() else _LETTERS.get(c.lower(), c).capitalize()
        for c in text.strip()
    )
    return written.replace("*", "")
