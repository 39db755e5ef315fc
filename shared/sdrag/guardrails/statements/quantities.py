"""
Quantities: the numbers, dates and times of a text, with what they count.

A number is compared with its unit, its bound (at least, at most) and its scale.
Words of numbers and numerals are the same, and so are the notations of a date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from sdrag.guardrails.statements.words import TokenText
from sdrag.text import word_set
from sdrag.text.dates import MONTHS, NUMBER_WORDS, WEEKDAYS
from sdrag.text.stemming import stem
from sdrag.vocabulary import Confidential

_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_SCALES |= {"bn": 1e9, "trillion": 1e12, "dozen": 12.0}
_SPELLINGS = """
kilogram kilograms kg kilo kilos | gram grams g | milligram milligrams mg
| microgram micrograms mcg \u03bcg | tonne tonnes ton tons t | ounce ounces oz
| kilometre kilometres kilometer kilometers km | metre metres meter meters m
| centimetre centimetres centimeter centimeters cm
| millimetre millimetres millimeter millimeters mm | mile miles mi | foot feet ft
| inch inches in. | yard yards | hectare hectares ha | acre acres
| litre litres liter liters l | millilitre millilitres milliliter milliliters ml
| gallon gallons | second seconds sec secs s | millisecond milliseconds ms
| minute minutes min mins | hour hours hr hrs h | day days | week weeks | month months
| year years yr yrs | decade decades | euro euros eur \u20ac | dollar dollars usd $
| pound pounds gbp lb lbs \u00a3 | franc francs chf | percent % per-cent | point points
| watt watts w | kilowatt kilowatts kw | megawatt megawatts mw | volt volts v
| byte bytes | kilobyte kilobytes kb | megabyte megabytes mb | gigabyte gigabytes gb
| celsius c | fahrenheit f | degree degrees \u00b0 | km/h kmh kph | mph
"""
_UNITS = {
    spelling: spellings.split()[0]
    for spellings in _SPELLINGS.split("|")
    for spelling in spellings.split()
}
_MULTIPLES = """
kilogram gram 1e3 | milligram gram 1e-3 | microgram gram 1e-6 | tonne gram 1e6
| kilometre metre 1e3 | centimetre metre 1e-2 | millimetre metre 1e-3
| millilitre litre 1e-3 | millisecond second 1e-3 | minute second 60 | hour second 3600
| day second 86400 | week second 604800 | decade year 10 | kilowatt watt 1e3
| megawatt watt 1e6 | kilobyte byte 1e3 | megabyte byte 1e6 | gigabyte byte 1e9
"""
_BASES = {
    unit: (base, float(factor))
    for unit, base, factor in map(str.split, _MULTIPLES.split("|"))
}
"""What units are multiples of; a month is none of days."""
_LETTERS = frozenset(name for name in _UNITS if len(name) == 1 and name.isalpha())
_BEFORE = frozenset("\u20ac$\u00a3") | word_set("eur usd gbp chf")
_AMBIGUOUS_MONTHS = word_set("may march mar jan sep dec")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)")
_PERIODS = {
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "fortnightly": "fortnight",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annual": "year",
    "annually": "year",
    "nightly": "night",
}
_TIMES = frozenset(_PERIODS.values())
_PER = word_set("per each every a an")
DATES = frozenset({"day", "month", "year", "weekday"})
"""Kinds of quantities: a day of a month, a month, a year, a day of the week."""
_BOUNDS = (
    ("least", "at least|no fewer than|not fewer than|no less than|not less than"),
    ("least", "not below|a minimum of|minimum|or more"),
    ("most", "at most|up to|no more than|not more than|not exceed|a maximum of"),
    ("most", "maximum|or less|or fewer|not above|within"),
    ("over", "older than|longer than|larger than|later than|higher than|bigger than"),
    ("under", "younger than|shorter than|smaller than|earlier than|lower than"),
    ("over", "more than|over|above|exceeds|exceeding|exceeded|in excess of"),
    ("under", "less than|fewer than|under|below"),
)
_REACH = 4
"""Words before a number in which its bound stands."""
_MOST_WORDS = 6
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_NUMERAL = re.compile(r"\d+(?:\.\d+)?")

Value = float | str | tuple[int, int]


@dataclass(frozen=True, slots=True, repr=False)
class Quantity(Confidential):
    """
    A number, a part of a date, or a time.

    Args:
        kind: `number`, `time`, or one of `DATES`.
        value: Comparable: the number, or the month and the day.
        at: The token at which it begins.
        to: The token before which it ends.
        unit: The measure's name; for things counted, the stem of their noun.
        measured: The unit is a measure, and no thing.
        bound: `least`, `most`, `over`, `under`, or nothing.
    """

    kind: str
    value: Value
    at: int
    to: int
    unit: str = ""
    measured: bool = True
    bound: str = ""


def read_quantities(tokens: TokenText) -> tuple[Quantity, ...]:
    """Return the quantities of a text, in order."""
    quantities: list[Quantity] = []
    at = 0
    while at < len(tokens):
        read = _date(tokens, at) or _number(tokens, at)
        quantities += read
        at = max((quantity.to for quantity in read), default=at + 1)
    return tuple(quantities)


def in_base(quantity: Quantity) -> tuple[Value, str]:
    """Return value and unit of a measured number, such as 3000 metres of 3 km."""
    base, factor = _BASES.get(quantity.unit, (quantity.unit, 1.0))
    if not isinstance(quantity.value, float):
        return quantity.value, quantity.unit
    return round(quantity.value * factor, 9), base


def read_periods(tokens: TokenText) -> frozenset[str]:
    """Return how often: the units of *a month*, *per day*, *weekly*."""
    words = [token.text for token in tokens]
    named = {_PERIODS[word] for word in words if word in _PERIODS}
    pairs = {
        _UNITS.get(word, word)
        for before, word in pairwise(words)
        if before in _PER and _UNITS.get(word, word) in _TIMES
    }
    return frozenset(named | pairs)


def _word(tokens: TokenText, at: int) -> str:
    return tokens[at].text if 0 <= at < len(tokens) else ""


def _date(tokens: TokenText, at: int) -> list[Quantity]:
    word = tokens[at].text
    if match := _ISO.fullmatch(word):
        year, month, day = map(int, match.groups())
        return [
            Quantity("year", float(year), at, at + 1),
            Quantity("day", (month, day), at, at + 1),
        ]
    if match := _CLOCK.fullmatch(word):
        return [Quantity("time", f"{int(match[1])}:{match[2]}", at, at + 1)]
    if word.removesuffix("s") in WEEKDAYS:
        return [Quantity("weekday", word[:3], at, at + 1)]
    counts = _word(tokens, at + 1) in _UNITS or _word(tokens, at + 1) in _SCALES
    if _YEAR.fullmatch(word) and not counts:
        return [Quantity("year", float(word), at, at + 1)]
    return _month_and_day(tokens, at)


def _month_and_day(tokens: TokenText, at: int) -> list[Quantity]:
    """Read *May*, *3 May*, *May 3* or *the 3rd of May*."""
    if month := _month(tokens, at):
        if day := _day(tokens, at + 1):
            return [Quantity("day", (month, day), at, at + 2)]
        return [Quantity("month", float(month), at, at + 1)]
    day = _day(tokens, at)
    after = at + 2 if _word(tokens, at + 1) == "of" else at + 1
    if day and (month := _month(tokens, after)):
        return [Quantity("day", (month, day), at, after + 1)]
    return []


def _month(tokens: TokenText, at: int) -> int:
    """Return the month; `may` and `march` only where they are written as names."""
    word = _word(tokens, at)
    is_month = word in MONTHS and (word not in _AMBIGUOUS_MONTHS or tokens[at].name)
    return MONTHS[word] if is_month else 0


def _day(tokens: TokenText, at: int) -> int:
    digits = _ORDINAL.sub("", _word(tokens, at))
    in_month = digits.isdecimal() and 1 <= int(digits) <= 31
    return int(digits) if in_month else 0


def _number(tokens: TokenText, at: int) -> list[Quantity]:
    value, to = _value(tokens, at)
    if value is None:
        return []
    unit, measured, end = _unit(tokens, at, to)
    bound = _bound(tokens, at, to)
    return [Quantity("number", value, at, end, unit, measured, bound)]


def _value(tokens: TokenText, at: int) -> tuple[float | None, int]:
    """Return a number's value and where it ends."""
    value: float | None = None
    to = at
    for to in range(at, min(at + _MOST_WORDS, len(tokens))):
        word = tokens[to].text
        part = _simple(word)
        if word in _SCALES and (
            value is not None or _word(tokens, to - 1) in {"a", "an"}
        ):
            value = (1.0 if value is None else value) * _SCALES[word]
        elif part is not None and value is None:
            value = part
        elif part is not None and word.isalpha() and value and value >= 20:
            value += part
        else:
            return value, to
    return value, to + 1


def _simple(word: str) -> float | None:
    if word in NUMBER_WORDS:
        return float(NUMBER_WORDS[word])
    digits = re.sub(r",(?=\d{3}\b)", "", word)
    return float(digits) if _NUMERAL.fullmatch(digits) else None


def _unit(tokens: TokenText, at: int, to: int) -> tuple[str, bool, int]:
    """Return the unit of a number, whether it is a measure, and where it ends."""
    if _word(tokens, at - 1) in _BEFORE:
        return _UNITS[_word(tokens, at - 1)], True, to
    first, second = _word(tokens, to), _word(tokens, to + 1)
    if measure := _pair_of_words(first, second):
        return measure, True, to + 2
    if first in _UNITS and not (first in _LETTERS and tokens[to].name):
        return _UNITS[first], True, to + 1
    if not (first.isalpha() and tokens[to].content):
        return "", False, to
    return stem(first), False, to


def _pair_of_words(first: str, second: str) -> str:
    """Return the measure that two words name, if they do."""
    if first.startswith("percentage") and second.startswith("point"):
        return "point"
    if second not in _UNITS:
        return ""
    if first in {"degree", "degrees", "\u00b0"}:
        return _UNITS[second]
    return f"{first} {_UNITS[second]}" if first in {"square", "cubic"} else ""


def _bound(tokens: TokenText, at: int, to: int) -> str:
    """Return whether a number is the least or the most, from the words around it."""
    before = " ".join(token.text for token in tokens[max(0, at - _REACH) : at])
    after = " ".join(token.text for token in tokens[to : to + 3])
    for bound, cues in _BOUNDS:
        for cue in cues.split("|"):
            if cue.startswith("or "):
                if re.search(rf"\b{cue}\b", after):
                    return bound
            elif before.endswith(cue):
                return bound
    return ""
