"""Text with identifiers whose places are known, each kind in the forms people write."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from stdnum import iban, luhn

__all__ = ["KINDS", "Planted", "labelled_text"]


class Planted(NamedTuple):
    """
    An identifier in the text.

    Args:
        kind: One of `KINDS`.
        start: Its first character.
        end: Behind its last one.
        text: What it says.
    """

    kind: str
    start: int
    end: int
    text: str


FIRST = ("Jonathan", "Farida", "Ines", "Tobias", "Wei", "Oluwaseun", "Márta", "Priya")
LAST = (
    "Meyers",
    "Qureshi",
    "Tavares",
    "Lindqvist",
    "Zhang",
    "Adeyemi",
    "Kovács",
    "Nair",
)
HOSTS = (
    "example.org",
    "mail.example.com",
    "post.example.co.uk",
    "clinic-north.example.net",
)
FILLING = (
    "Nothing of what was said at the meeting has been written down by anybody.",
    "It was late, and the rain that had begun in the morning would not stop.",
    "The committee looked at the plans again and found them too expensive.",
    "Section 12.4 of the handbook, version 3.1.2, allows 250 copies of each form.",
    "The parcel weighed 4,250 grams and had stood in the hall for 12 days.",
)
SENTENCES = {
    "e-mail": ("Write to {} before the end of the week.", "({}) was copied in."),
    "telephone": ("Ring {} after six.", "Her number is {}; she seldom answers."),
    "card": ("The card {} was charged twice.", "Paid with {} in March."),
    "IBAN": ("Transfer it to {} today.", "The account is {}."),
    "SSN": ("His social security number is {}.", "SSN: {}, as on the form."),
    "IP address": ("The request came from {}.", "Blocked: {} for an hour."),
    "web address": ("It is told at {} in full.", "See {} for the minutes."),
    "name": ("{} was told of it by letter.", "The form was signed by {} at noon."),
    "date": ("It was sent on {}.", "Born {}, the applicant lives alone."),
}
KINDS = tuple(SENTENCES)
"""What is planted, in equal parts."""


def labelled_text(characters: int) -> tuple[str, list[Planted]]:
    """Write about so many characters, and say where the identifiers are."""
    rng, parts, planted, length = random.Random(11), [], [], 0
    for kind in _kinds(rng):
        if length >= characters:
            break
        value = _VALUES[kind](rng)
        before, after = rng.choice(SENTENCES[kind]).split("{}")
        start = length + len(before)
        planted.append(Planted(kind, start, start + len(value), value))
        sentence = f"{before}{value}{after} {rng.choice(FILLING)} "
        parts.append(sentence)
        length += len(sentence)
    return "".join(parts), planted


def _kinds(rng: random.Random) -> Iterator[str]:
    while True:
        yield from rng.sample(KINDS, len(KINDS))


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choices("0123456789", k=count))


def _email(rng: random.Random) -> str:
    first = rng.choice(("j.meyers", "farida_q", "ines+press", "t-lindqvist", "nair42"))
    return f"{first}@{rng.choice(HOSTS)}"


def _telephone(rng: random.Random) -> str:
    n = rng.randint(100, 899)
    return rng.choice(
        (
            f"+44 20 7946 0{n}",
            f"(212) 555-0{n}",
            f"212-555-0{n}",
            f"+1 415 555 0{n}",
            f"0770 090 0{n}",
            f"+49 30 2318 6{n}",
        )
    )


def _card(rng: random.Random) -> str:
    start = rng.choice(("4", "51", "55"))
    stem = start + _digits(rng, 15 - len(start))
    number = stem + luhn.calc_check_digit(stem)
    groups = [number[at : at + 4] for at in range(0, 16, 4)]
    return rng.choice(("", " ", "-")).join(groups)


def _iban(rng: random.Random) -> str:
    stem = rng.choice(("DE", "NL", "GB"))
    body = {
        "DE": _digits(rng, 18),
        "NL": f"ABNA{_digits(rng, 10)}",
        "GB": f"WEST{_digits(rng, 14)}",
    }[stem]
    number = stem + iban.calc_check_digits(f"{stem}00{body}") + body
    return iban.format(number) if rng.random() < 0.5 else number


def _ssn(rng: random.Random) -> str:
    area = rng.choice([n for n in range(101, 772) if n not in {219, 457, 666}])
    return f"{area}-{rng.randint(11, 99)}-{rng.randint(1001, 9998)}"


def _address(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return f"2001:db8:{rng.randint(1, 9)}f{rng.randint(1, 9)}::{rng.randint(2, 99)}"
    return ".".join(str(rng.randint(11, 250)) for _ in range(4))


def _web(rng: random.Random) -> str:
    host, page = rng.choice(HOSTS[:3]), rng.choice(("", "/minutes", "/a/b?id=7"))
    return f"{rng.choice(('https://', 'http://', 'https://www.'))}{host}{page}"


def _name(rng: random.Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def _date(rng: random.Random) -> str:
    day, year = rng.randint(1, 28), rng.randint(1950, 2024)
    month = rng.choice(("January", "March", "June", "November"))
    number = rng.randint(1, 12)
    return rng.choice(
        (
            f"{day} {month} {year}",
            f"{month} {day}, {year}",
            f"{year}-{number:02}-{day:02}",
            f"{day:02}/{number:02}/{year}",
        )
    )


_VALUES: dict[str, Callable[[random.Random], str]] = dict(
    zip(
        KINDS,
        (_email, _telephone, _card, _iban, _ssn, _address, _web, _name, _date),
        strict=True,
    )
)
