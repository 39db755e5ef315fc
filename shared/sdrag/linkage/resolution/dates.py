"""
Dates as they are written: "12 April 2019", "April 12th, 2019", "12/04/19".

A date of numbers alone is read day first, as in the thesis's own example, unless the
corpus shows a date that can only be month first and none that can only be day first.
A date without a year joins the one full date of its type with that day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sdrag.folding import fold_text

__all__ = ["date_pairs"]

_NAMES_OF_MONTHS = """january jan|february feb|march mar|april apr|may|june jun|july jul
|august aug|september sept sep|october oct|november nov|december dec"""
_MONTHS = {
    name: number
    for number, names in enumerate(_NAMES_OF_MONTHS.split("|"), start=1)
    for name in names.split()
}
_ISO = re.compile(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b")
_NUMBERS = re.compile(r"\b(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4}|\d{2})\b")
_NAMED = re.compile(r"\b(" + "|".join(_MONTHS) + r")\b")
_YEAR = re.compile(r"\b((?:19|20)\d{2})\b")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b(?!:)")
_CENTURY = 50
_LONGEST = 40

Date = tuple[int, int, int]
"""Year, month, day; 0 where it is not said."""


def date_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of forms that name one date; forms that name none are ignored."""
    month_first = _month_first(forms)
    seen: dict[Date, int] = {}
    for number, form in enumerate(forms):
        date = _read(form, month_first=month_first)
        if date is None:
            continue
        if date in seen:
            yield seen[date], number
        else:
            seen[date] = number
    yield from _yearless(seen)


def _yearless(seen: dict[Date, int]) -> Iterator[tuple[int, int]]:
    for (year, month, day), number in seen.items():
        if year or not day:
            continue
        full = [n for (y, m, d), n in seen.items() if y and (m, d) == (month, day)]
        if len(full) == 1:
            yield number, full[0]


def _month_first(forms: Sequence[str]) -> bool:
    pairs = [
        (int(match[1]), int(match[2]))
        for form in forms
        if (match := _NUMBERS.search(fold_text(form)))
    ]
    only_month_first = any(second > 12 >= first for first, second in pairs)
    return only_month_first and not any(first > 12 >= second for first, second in pairs)


def _read(form: str, *, month_first: bool) -> Date | None:
    text = fold_text(form).replace(",", " ")
    if len(text) > _LONGEST:
        return None
    if match := _ISO.search(text):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    if match := _NUMBERS.search(text):
        one, two = int(match[1]), int(match[2])
        swapped = (month_first and one <= 12) or two > 12
        month, day = (one, two) if swapped else (two, one)
        return _date(_whole_year(int(match[3])), month, day)
    if match := _NAMED.search(text):
        return _named(text, _MONTHS[match[1]])
    return None


def _named(text: str, month: int) -> Date | None:
    year = _YEAR.search(text)
    day = _DAY.search(text.replace(year[1], " ", 1) if year else text)
    return _date(int(year[1]) if year else 0, month, int(day[1]) if day else 0)


def _whole_year(year: int) -> int:
    if year >= 100:
        return year
    return year + (2000 if year < _CENTURY else 1900)


def _date(year: int, month: int, day: int) -> Date | None:
    if not (1 <= month <= 12 and 0 <= day <= 31) or not (year or day):
        return None
    return year, month, day
