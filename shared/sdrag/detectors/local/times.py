"""Dates and times of day, by their forms in English."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found

__all__ = ["times"]

_MONTH = (
    r"(?:Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?|July?"
    r"|Aug(?:ust|\.)?|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?"
    r"|Dec(?:ember|\.)?|JANUARY|FEBRUARY|MARCH|APRIL|MAY|JUNE|JULY|AUGUST|SEPTEMBER"
    r"|OCTOBER|NOVEMBER|DECEMBER)(?![a-z])"
)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?:1[5-9]|20)\d\d"
_CLOCK = r"(?:[01]?\d|2[0-4])[:.][0-5]\d(?:[:.][0-5]\d)?(?:\.\d{1,6})?"
_ZONE = (
    r"(?: ?(?:[ap]\.?m\b\.?|[AP]M\b|hrs?\b|h\b|Z\b|UTC\b|GMT\b|IST\b|[ECMP][SD]?T\b))"
)
_WEEKDAY = r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|Mon|Tue|Wed|Thu|Fri|Sat)"
_RULES: tuple[tuple[str, str, float], ...] = (
    (
        (
            rf"(?<![\w./-]){_YEAR}[-/.](?:1[0-2]|0?[1-9])[-/.](?:3[01]|[12]\d|0?[1-9])"
            rf"(?:[T ]{_CLOCK}{_ZONE}?)?(?![\w/-])"
        ),
        "DATE",
        1.0,
    ),
    (r"(?<![\w./-])\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})(?![\w/-])", "DATE", 0.95),
    (
        (
            rf"(?<![\w.,-])(?:{_DAY}(?:,? ?(?:-|to|and|or|until) ?|, ))?{_DAY}"
            rf" (?:day )?"
            rf"(?:of )?{_MONTH}(?:,? {_YEAR}\b)?"
        ),
        "DATE",
        1.0,
    ),
    (
        (
            rf"\b{_MONTH}(?: {_DAY}(?: ?(?:-|to|and) ?{_DAY})?(?!\d)(?:,?"
            rf" {_YEAR})?\b|,? "
            rf"(?:of )?{_YEAR}\b)"
        ),
        "DATE",
        1.0,
    ),
    (rf"\b{_YEAR}-{_MONTH}(?:-{_DAY})?\b", "DATE", 0.9),
    (
        (
            rf"(?<![\w.,/:$\u20ac\u00a3-])(?:early |late |mid-?)?{_YEAR}s?"
            rf"(?:[-/](?:{_YEAR}|\d\d))?(?![\w/:%]|[.,-]\d)"
        ),
        "DATE",
        0.7,
    ),
    (rf"(?<![\w.,/:-]){_CLOCK}{_ZONE}?(?![\w:/%])", "TIME", 0.8),
    (
        r"(?<![\w.,/:-])(?:[01]?\d|2[0-4]) ?(?:[ap]\.?m\b\.?|[AP]M\b|o'clock)",
        "TIME",
        1.0,
    ),
)
_DATES = tuple((re.compile(rule), type_, sure) for rule, type_, sure in _RULES)
_MONTH_ALONE = re.compile(rf"\b(?:{_MONTH})")
_MONTH_CUE = re.compile(
    r"\b(?:in|since|until|of|last|next|this|by|from|to|during|early|late|mid|between|and"
    r"|before|after|every|each|on)[ -]$",
    re.IGNORECASE,
)
_DAYS = re.compile(
    rf"\b(?:on |last |next |every )?{_WEEKDAY}\b"
    r"(?: (?:morning|afternoon|evening|night)s?)?"
)
_CLOCK_WORDS = re.compile(
    r"\b(?:(?:half|(?:a )?quarter|(?:five|ten|twenty|twenty-five|\d{1,2})(?: minutes)?)"
    r" (?:past|to|after|before) )(?:one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|noon|midnight|\d{1,2})\b"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) o'clock"
    r"|\b(?:noon|midnight)\b"
)
_YEARED = re.compile(r"\d{4}$")
_JOINABLE = 0.7
_JOINED = re.compile(r",? (?:and|to|until|till|or)(?: on| from| of)? |, (?:on )?|-| - ")
_BETWEEN = re.compile(r"\b(?:[Bb]etween|[Ff]rom) $")
_RELATIVE = re.compile(
    r"\b(?:this (?:morning|afternoon|evening)"
    r"|(?:last|next|this) (?:spring|summer|autumn|winter|fall))\b",
    re.IGNORECASE,
)


def times(text: str) -> Iterator[Found]:
    """Yield dates and times, and the stretch from one to another as a whole."""
    found = list(_single(text))
    yield from found
    yield from _stretches(text, found)


def _stretches(text: str, found: list[Found]) -> Iterator[Found]:
    """Join neighbours: 1 March and 31 December 1998."""
    by_start = {one.start: one for one in found if one.confidence >= _JOINABLE}
    for one in found:
        if one.confidence < _JOINABLE:
            continue
        join = _JOINED.match(text, one.end)
        after = by_start.get(join.end()) if join else None
        if join is None or after is None:
            continue
        between = _BETWEEN.search(text, max(0, one.start - 8), one.start)
        if (
            not between
            and "and" in join.group()
            and _YEARED.search(text[one.start : one.end])
        ):
            continue
        start = between.start() if between and between.group()[1] == "e" else one.start
        yield Found(start, after.end, "DATE", 0.9, "stretch")


def _single(text: str) -> Iterator[Found]:
    for pattern, type_, confidence in _DATES:
        for match in pattern.finditer(text):
            yield Found(*match.span(), type_, confidence, "form")
    for match in _MONTH_ALONE.finditer(text):
        before = text[max(0, match.start() - 12) : match.start()]
        if match.group() != "May" or _MONTH_CUE.search(before):
            yield Found(*match.span(), "DATE", 0.8, "month")
    for match in _DAYS.finditer(text):
        yield Found(*match.span(), "DATE", 0.6, "weekday")
    for match in _CLOCK_WORDS.finditer(text):
        yield Found(*match.span(), "TIME", 0.8, "words")
    for match in _RELATIVE.finditer(text):
        yield Found(*match.span(), "DATE", 0.55, "relative")
