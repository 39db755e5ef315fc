"""
Other ways to write a date or a telephone number that was found.

"3 May 1984" in a letter is `dob=19840503` in a form and 5/3/84 on a card. Separators
need no forms of their own, since the register ignores them: 1984-05-03 finds 1984.05.03
and 19840503 as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.text.dates import MONTHS, Date, read_date

__all__ = ["value_forms"]

_LONGEST = 40
_PHONE = re.compile(r"\+?[\d\s()./-]{7,}")
_LEAST_DIGITS = 7
_LONGEST_CODE = 3
_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


def value_forms(surface: str) -> frozenset[str]:
    """
    Return other ways in which a value may be written.

    Args:
        surface: As found in the text. What is no whole date and no telephone number
            has no other forms.
    """
    said = surface.strip()
    if len(said) > _LONGEST or not any(map(str.isdigit, said)):
        return frozenset()
    dates = {read_date(said), read_date(said, months_first=True)} - {None}
    forms = {form for date in dates if date and all(date) for form in _dates(date)}
    if _PHONE.fullmatch(said):
        forms |= set(_phones(said))
    return frozenset(forms - {said})


def _dates(date: Date) -> Iterator[str]:
    year, month, day = date
    short = f"{year % 100:02}"
    yield f"{year}-{month:02}-{day:02}"
    for one, other in ((day, month), (month, day)):
        yield f"{one:02}-{other:02}-{year}"
        yield f"{one}-{other}-{year}"
        yield f"{one:02}-{other:02}-{short}"
        yield from (f"{one}{mark}{other}{mark}{short}" for mark in "-/.")
    ordinal = f"{day}{_ordinal(day)}"
    for name in (name for name, number in MONTHS.items() if number == month):
        yield f"{year} {name} {day}"
        for said in (str(day), f"{day:02}", ordinal):
            yield f"{said} {name} {year}"
            yield f"{said} of {name} {year}"
            yield f"{name} {said} {year}"
        yield f"{day} {name} {short}"


def _ordinal(day: int) -> str:
    return "th" if day in {11, 12, 13} else _SUFFIXES.get(day % 10, "th")


def _phones(said: str) -> Iterator[str]:
    """Yield a number without its country code, and with a zero in its place."""
    digits = "".join(filter(str.isdigit, said.replace("(0)", "")))
    yield digits
    if said.startswith("+"):
        yield f"00{digits}"
    elif digits.startswith("00"):
        digits = digits[2:]
    elif digits.startswith("0"):
        yield digits[1:]
        return
    else:
        return
    for code in range(1, _LONGEST_CODE + 1):
        if len(rest := digits[code:]) >= _LEAST_DIGITS:
            yield rest
            yield f"0{rest}"
