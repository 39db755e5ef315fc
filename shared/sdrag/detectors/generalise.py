"""
Values in a coarser form: a year for a date, a band for an age, a town for an address.

Each level is a function of the value alone, so one value always becomes the same text.
It gives nothing where a value is not, as a whole, of its kind, and never more than it
was asked for: what a text does not say is not guessed, and a value that is coarser
already stays as coarse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

from sdrag.detectors.local.tables import (
    TITLES,
    WEEKDAYS,
    countries,
    listed,
    places,
)
from sdrag.text.dates import CARDINALS, MONTHS, ORDINALS, Date, read_date
from sdrag.text.folding import fold_text
from sdrag.text.values import age_key
from sdrag.vocabulary import Span

_FAMILIES: tuple[tuple[str, ...], ...] = (
    ("month", "year", "decade"),
    ("five-years", "ten-years"),
    ("band", "magnitude"),
    ("town", "region"),
    ("outward",),
    ("last-four",),
    ("initials",),
)
"""The levels of each kind of value, the finest first."""
_WORD = re.compile(r"[^\W\d_]+")
_DATED = listed(
    "the of on in at from to and between early late mid st nd rd th day year spring"
    " summer autumn fall winter hundred thousand"
).union(MONTHS, map(str.lower, WEEKDAYS), CARDINALS, ORDINALS)
_CLOCK = re.compile(r"[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$")
_FULL_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?=\D|\d{4}(?!\d)|$)")
_DECADE = re.compile(
    r"(?:the )?(?:(?:early|mid|late)[ -])?((?:1[5-9]|20)\d0)['\u2019]?s"
)
_AGED = listed("aged age of at the year years old yo yr yrs")
_APOSTROPHES = ("'", "\u2019")  # '84 is a year
_OLDEST = 90
_SUM = re.compile(
    r"(?P<before>(?:[A-Z]{1,3}|Rs\.?)? ?[$\u20ac\u00a3\u00a5\u20b9]? ?)"
    r"(?P<number>\d{1,3}(?P<apart>[,.' \u00a0])\d{3}(?:(?P=apart)\d{3})*|\d+)"
    r"(?:(?P<point>[.,])(?P<cents>\d{1,2}))?"
    r"(?: ?(?P<scale>k|thousand|m|mn|million|bn|billion)\b)?"
    r"(?P<after> ?(?:[$\u20ac\u00a3]|[A-Z]{3}|euros?|dollars?|pounds?|francs?|kroner"
    r"|kronor|yen|rupees))?",
    re.IGNORECASE,
)
_LONGEST_SUM = 9
_SCALES = {"k": 1_000, "t": 1_000, "m": 1_000_000, "b": 1_000_000_000}
_POSTCODE = re.compile(  # what has digits alone may be any number
    r"([A-Z]{1,2}\d[A-Z\d]?) ?\d[ABD-HJLNP-UW-Z]{2}|([A-Z]\d[A-Z]) ?\d[A-Z]\d"
)
_IN_ADDRESS = re.compile(
    r"\b(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|\d[\d-]{3,9}(?: [A-Z]{2})?)\b"
)
_SIGNS = re.compile(r"[\d\s()+./-]*+(?:[A-Z]{2}\d{2}[ -]?[A-Z]{4}[\d\s()+./-]*+)?")
_LEAST_DIGITS = 8
_GOES_BEFORE = re.compile(r"\d[.'\u2019/]?$|['\u2019]$")
_GROUP = re.compile(r",\d{2,3}(?!\d)")
_GOES_ON = re.compile(r"[.'\u2019/]?\d|\s?[\u00bc-\u00be]|[ -]\d+[/\u2044]\d")
_MOST_NAMES = 5


def generalise_in(text: str, span: Span, levels: Sequence[str]) -> str:
    """Return a value of a text so, unless it may be a part of a longer one."""
    before, after = (
        text[max(0, span.start - 2) : span.start],
        text[span.end : span.end + 40],
    )
    value = span.of(text)
    is_part = bool(_GOES_BEFORE.search(before) or _GOES_ON.match(after))
    if not value[:1].isdigit():  # a bare number before a comma is rather a cell
        is_part |= _GROUP.match(after) is not None
    return "" if is_part else generalise(value, levels)


def generalise(value: str, levels: Sequence[str]) -> str:
    """Return a value at the first of the levels that fits it; nothing if none does."""
    texts = (_LEVELS[level](" ".join(value.split()), level) for level in levels)
    return next(filter(None, texts), "")


def coarsest(each: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return, of the kinds for which all have a level, the coarsest that one has."""
    listed = [frozenset(levels) for levels in each]
    shared = (f for f in _FAMILIES if listed and all(map(set(f).intersection, listed)))
    every = frozenset[str]().union(*listed)
    return tuple([level for level in f if level in every][-1] for f in shared)


def _date(value: str, level: str) -> str:
    text = fold_text(_CLOCK.sub("", value)).strip(" .,")
    if decade := _DECADE.fullmatch(text):
        return f"{decade[1]}s"
    words, years = _WORD.findall(text), {*_FULL_YEAR.findall(text)}
    if not {*words} <= _DATED or len(re.findall(r"\d+", text)) > 3 or len(years) > 1:
        return ""
    read = [read_date(text), read_date(text, months_first=True)]
    dates = [date for date in read if date]
    year = next(iter(years), "") or _worded_year(text, dates)
    months = {d.month for d in dates} if len({*words} & MONTHS.keys()) < 2 else set()
    month = _month(months.pop()) if level == "month" and len(months) == 1 else ""
    if level == "decade" and year:
        return f"{year[:-1]}0s"
    return f"{month} {year}".strip()


def _worded_year(text: str, dates: Sequence[Date]) -> str:
    """Return the year of a date in words; two digits do not say the century."""
    is_short = re.search(r"\d\W\d", text) is not None
    return str(dates[0].year) if dates and dates[0].year and not is_short else ""


def _month(number: int) -> str:
    return next(name for name, n in MONTHS.items() if n == number).capitalize()


def _age(value: str, level: str) -> str:
    words = {*_WORD.findall(fold_text(value))}
    age = None if value.startswith(_APOSTROPHES) else age_key(value)
    if age is None or age > 120 or not words <= _AGED | CARDINALS.keys():
        return ""
    size = 5 if level == "five-years" else 10
    low = age // size * size
    joint = "-" if "-year" in value.lower() else " "
    parts = [str(low), "to", str(low + size - 1)]
    band = joint.join(parts if age < _OLDEST else [str(_OLDEST), "or", "more"])
    if {"year", "years", "old"} & words:
        return f"{band}-year-old" if joint == "-" else f"{band} years old"
    return f"aged {band}" if {"aged", "age"} & words else band


def _sum(value: str, level: str) -> str:
    match = _SUM.fullmatch(value.strip())
    if match is None:
        return ""
    digits = "".join(filter(str.isdigit, match["number"]))
    if len(digits) > _LONGEST_SUM:  # rather an account
        return ""
    apart, point = match["apart"], match["point"]
    may_be_point = match["scale"] or (apart == "." and match["number"].count(".") == 1)
    if apart and (apart == point or (may_be_point and not point)):
        return ""
    scale = _SCALES[match["scale"][0].lower()] if match["scale"] else 1
    amount = int(Decimal(f"{digits}.{match['cents'] or 0}") * scale)
    before, after = match["before"], match["after"] or ""
    if amount < 10:
        return f"under {before}10{after}"
    power = 10 ** (len(str(amount)) - 1)
    low = amount // power * power if level == "band" else power
    high = low + power if level == "band" else 10 * power
    comma = "," if "," in value else ""  # else it may end the cell that it stands in
    return f"{before}{low:{comma}} to {before}{high:{comma}}{after}"


def _place(value: str, level: str) -> str:
    parts = [_IN_ADDRESS.sub("", part).strip(" .") for part in value.split(",")]
    known = [part in places() or part in countries() for part in parts]
    if len(parts) < 2 or not known[-1] or not any(map(str.isdigit, value)):
        return ""
    coarser = parts[-1] in countries() or (known[-2] and len(parts) > 2)
    if level == "region":
        return parts[-1] if coarser else ""
    is_pair = coarser and known[-2]
    return ", ".join(parts[-2:]) if is_pair and len(parts) > 2 else parts[-1]


def _outward(value: str, level: str) -> str:
    del level
    match = _POSTCODE.fullmatch(value.upper())
    return match[1] or match[2] if match else ""


def _last_four(value: str, level: str) -> str:
    del level
    digits = "".join(filter(str.isdigit, value)).lstrip("0")  # zeros may fill it up
    is_number = _SIGNS.fullmatch(value) is not None and read_date(value) is None
    return f"\u2026{digits[-4:]}" if is_number and len(digits) >= _LEAST_DIGITS else ""


def _initials(value: str, level: str) -> str:
    del level
    words = [w for w in re.split(r"[\s-]+", value) if w.rstrip(".") not in TITLES]
    named = all(w[0].isupper() and w.replace(".", "").isalpha() for w in words if w)
    if not words or len(words) > _MOST_NAMES or not named:
        return ""
    if len(words[-1].strip(".")) < 2 or any(len(word) == 1 for word in words):
        return ""  # a name of one letter would be said whole
    return " ".join(f"{word[0]}." for word in words if word)


_LEVELS: dict[str, Callable[[str, str], str]] = {
    **dict.fromkeys(_FAMILIES[0], _date),
    **dict.fromkeys(_FAMILIES[1], _age),
    **dict.fromkeys(_FAMILIES[2], _sum),
    **dict.fromkeys(_FAMILIES[3], _place),
    "outward": _outward,
    "last-four": _last_four,
    "initials": _initials,
}
