"""
Dates as they are written: "12 April 2019", "12/04/19", "20190412", or in words.

Read by their form alone, as people and forms write them; a library that validated them
would turn down what is masked all the same.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sdrag.text import word_set
from sdrag.text.folding import fold_text

_NAMES_OF_MONTHS = """january jan|february feb|march mar|april apr|may|june jun|july jul
|august aug|september sept sep|october oct|november nov|december dec"""
MONTHS = {
    name: number
    for number, names in enumerate(_NAMES_OF_MONTHS.split("|"), start=1)
    for name in names.split()
}
"""The number of each month, by its names in English, in lower case."""
_ISO = re.compile(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_COMPACT = re.compile(r"\b((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\b")
_NUMBERS = re.compile(r"\b(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4}|\d{2})\b")
_NUMERALS = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"]
_ROMAN = re.compile(
    rf"\b(\d{{1,2}})[-/. ]+({'|'.join(_NUMERALS)})[-/. ]+(\d{{4}}|\d{{2}})\b"
)
_NAMED = re.compile(r"\b(" + "|".join(MONTHS) + r")\b")
_YEAR = re.compile(r"\b((?:19|20)\d{2})\b")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b(?!:)")
_CENTURY = 50
_LONGEST = 100
_MOST_MONTHS = 12
_MOST_DAYS = 31


_UNITS = """one two three four five six seven eight nine ten eleven twelve thirteen
fourteen fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_FIRST = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh
twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"""
CARDINALS = {
    **{word: n for n, word in enumerate(_UNITS.split(), start=1)},
    **dict(zip(_TENS.split(), range(20, 100, 10), strict=True)),
}
"""The number of each word from one to nineteen, and of the tens."""
ORDINALS = {
    **{word: n for n, word in enumerate(_FIRST.split(), start=1)},
    "twentieth": 20,
    "thirtieth": 30,
}
"""The number of each word from first to twentieth, and of thirtieth."""
NUMBER_WORDS = {"zero": 0, **CARDINALS}
"""The number of each word that counts, from zero to nineteen, and of the tens."""
WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
_VALUES = CARDINALS | ORDINALS | {"oh": 0, "hundred": 100, "thousand": 1000}
_SPELLED = "|".join(sorted(_VALUES, key=len, reverse=True))
_NUMBER = re.compile(rf"\b(?:{_SPELLED})(?:(?:[ -]| and )(?:{_SPELLED}))*\b")


class Date(NamedTuple):
    """A date; a part that is not given is 0."""

    year: int
    month: int
    day: int


def read_date(form: str, *, months_first: bool = False) -> Date | None:
    """Read a date, if a form names one; `months_first` tells 3/4 from 4/3."""
    text = fold_text(form).replace(",", " ")
    if len(text) > _LONGEST:
        return None
    text = _NUMBER.sub(_in_figures, text)
    if match := _ISO.search(text) or _COMPACT.search(text):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    if match := _NUMBERS.search(text):
        first, second = int(match[1]), int(match[2])
        swapped = (months_first and first <= _MOST_MONTHS) or second > _MOST_MONTHS
        month, day = (first, second) if swapped else (second, first)
        return _date(_whole_year(int(match[3])), month, day)
    if match := _ROMAN.search(text):
        month = _NUMERALS.index(match[2]) + 1
        return _date(_whole_year(int(match[3])), month, int(match[1]))
    if match := _NAMED.search(text):
        return _read_named(text, MONTHS[match[1]])
    return None


def month_first(form: str) -> bool | None:
    """Say of a date of numbers alone whether its month comes first, if it tells."""
    match = _NUMBERS.search(fold_text(form))
    if match is None:
        return None
    first, second = int(match[1]), int(match[2])
    if (first > _MOST_MONTHS) == (second > _MOST_MONTHS):
        return None
    return second > _MOST_MONTHS


def _read_named(text: str, month: int) -> Date | None:
    year = _YEAR.search(text)
    day = _DAY.search(text.replace(year[1], " ", 1) if year else text)
    return _date(int(year[1]) if year else 0, month, int(day[1]) if day else 0)


def _in_figures(match: re.Match[str]) -> str:
    """Write a number in figures: twenty-first is 21, nineteen eighty-seven 1987."""
    groups = [0]
    for word in re.split(r"[ -]", match.group()):
        value = _VALUES.get(word, 0)
        if word in {"hundred", "thousand"}:
            groups[-1] *= value
        elif groups[-1] % 100 == 0 or (groups[-1] % 100 >= 20 and 0 < value < 10):
            groups[-1] += value
        else:
            groups.append(value)
    pair = len(groups) == 2 and 9 < groups[0] < 100
    pair = pair and (9 < groups[1] < 100 or " oh" in match.group())
    return str(groups[0] * 100 + groups[1]) if pair else " ".join(map(str, groups))


def _whole_year(year: int) -> int:
    if year >= 100:
        return year
    return year + (2000 if year < _CENTURY else 1900)


def _date(year: int, month: int, day: int) -> Date | None:
    if not (1 <= month <= _MOST_MONTHS and 0 <= day <= _MOST_DAYS) or not (year or day):
        return None
    return Date(year, month, day)
