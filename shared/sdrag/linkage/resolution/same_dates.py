"""
Forms that name one date: "12 April 2019", "April 12th, 2019", "12/04/19".

A date of numbers alone is read day first, as in the thesis's own example, unless the
corpus shows a date that can only be month first and none that can only be day first.
A date without a year joins the one full date of its type with that day.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdrag.text.dates import Date, month_first, read_date

__all__ = ["date_pairs"]


def date_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of forms that name one date; forms that name none are ignored."""
    told = set(map(month_first, forms))
    months_first = True in told and False not in told
    seen: dict[Date, int] = {}
    for number, form in enumerate(forms):
        date = read_date(form, months_first=months_first)
        if date is None:
            continue
        if date in seen:
            yield seen[date], number
        else:
            seen[date] = number
    yield from _yearless(seen)


def _yearless(seen: dict[Date, int]) -> Iterator[tuple[int, int]]:
    for date, number in seen.items():
        if date.year or not date.day:
            continue
        full = [n for other, n in seen.items() if other.year and other[1:] == date[1:]]
        if len(full) == 1:
            yield number, full[0]
