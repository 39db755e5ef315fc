"""
Dates and times of day, by their forms in English.

Looked for where a number, a month, a weekday or another word for a time stands, and
read from there. A calendar library that validated them would turn down what people
write (31 June, 5 December 20040) and what is masked all the same, so none is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import MONTHS, WEEKDAYS, listed
from sdrag.detectors.local.words import Tokens

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
_SEASON = r"(?:spring|summer|autumn|winter|fall)"
# What a date or a time that begins with a number may be, the longest form first.
_NUMERIC = re.compile(
    rf"(?P<iso>(?<![\w./-]){_YEAR}[-/.](?:1[0-2]|0?[1-9])[-/.](?:3[01]|[12]\d|0?[1-9])"
    rf"(?:[T ]{_CLOCK}{_ZONE}?)?(?![\w/-]))"
    r"|(?P<short>(?<![\w./-])\d{1,2}([./-])\d{1,2}\3(?:\d{4}|\d{2})(?![\w/-]))"
    rf"|(?P<day>(?<![\w.,-])(?:{_DAY}(?:,? ?(?:-|to|and|or|until) ?|, ))?{_DAY}"
    rf" (?:day )?(?:of )?{_MONTH}(?:,? {_YEAR}\b)?)"
    rf"|(?P<named>(?<![\w/-]){_YEAR}-{_MONTH}(?:-{_DAY})?\b)"
    r"|(?P<hour>(?<![\w.,/:-])(?:[01]?\d|2[0-4]) ?(?:[ap]\.?m\b\.?|[AP]M\b|o'clock"
    r"|noon\b|midnight\b))"
    rf"|(?P<clock>(?<![\w.,/:-]){_CLOCK}{_ZONE}?(?![\w:/%]))"
    rf"|(?P<year>(?<![\w.,/:$\u20ac\u00a3-]){_YEAR}s?"
    rf"(?:[-/](?:{_YEAR}|\d\d))?(?![\w/:%]|[.,-]\d))"
)
_NUMERIC_TYPES = {
    "iso": ("DATE", 1.0),
    "short": ("DATE", 0.95),
    "day": ("DATE", 1.0),
    "named": ("DATE", 0.9),
    "hour": ("TIME", 1.0),
    "clock": ("TIME", 0.8),
    "year": ("DATE", 0.7),
}
_MONTH_NAMES = MONTHS | {
    name.upper() for name in MONTHS if len(name) > 3 or name == "May"
}
_MONTHLY = re.compile(
    rf"{_MONTH}(?: {_DAY}(?: ?(?:-|to|and) ?{_DAY})?(?!\d)(?:,? {_YEAR})?\b"
    rf"|,? (?:of )?{_YEAR}\b)"
)
_MONTH_CUE = re.compile(
    r"\b(?:in|since|until|of|last|next|this|by|from|to|during|early|late|mid|between|and"
    r"|before|after|every|each|on)[ -]$",
    re.IGNORECASE,
)
_ROUGHLY = re.compile(
    r"\b(?:(?:the )?(?:beginning|end|middle|start|course"
    r"|(?:first|second|latter) (?:half|part)"
    r"|(?:first|second|third|last|fourth) (?:quarter|week)) of"
    r"|[Ee]arly|[Ll]ate|[Mm]id)[ -]$"
)
_WEEKDAY_NAMES = WEEKDAYS | listed("Mon Tue Wed Thu Fri Sat Sun")
_WEEKDAY_CUE = re.compile(r"\b(?:on|last|next|every) $")
_PART_OF_DAY = re.compile(r" (?:morning|afternoon|evening|night)s?\b")
_SEASONS = listed("spring summer autumn winter fall Spring Summer Autumn Winter")
_SEASONAL = re.compile(
    rf"(?i:{_SEASON})(?: (?:and|or) {_SEASON})?(?:,? (?:of )?(?:the year )?{_YEAR}\b)"
)
_FEASTS = listed("""
        Christmas Easter Ramadan Hanukkah Passover Thanksgiving Halloween Diwali
        Newroz Nowruz Pentecost Epiphany Lent Advent Eid
        """)
_FEAST = re.compile(r"\w+(?:'s)?(?: (?:Day|Eve|Monday|Sunday|Friday))?")
_HOURS = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_CLOCK_CUES = listed("half quarter five ten twenty minutes")
_CLOCK_WORDS = re.compile(
    r"(?:half|quarter|(?:five|ten|twenty)(?:-five)?(?: minutes)?|minutes) "
    rf"(?:past|to|after|before) (?:{_HOURS}|noon|midnight|\d{{1,2}})\b"
)
_CLOCK_LEAD = re.compile(r"(?:\ba |\b\d{1,2} |\btwenty-)$")
_ON_THE_HOUR = re.compile(rf"\b{_HOURS} $")
_YEARED = re.compile(r"\d{4}$")
_JOINABLE = 0.7
_JOINED = re.compile(
    r",? (?:and|to|until|till|or)(?: on| from| of| in)? |, (?:on |in )?|-| - "
)
_BETWEEN = re.compile(r"\b(?:[Bb]etween|[Ff]rom) $")
_RELATIVE = re.compile(
    rf"(?i:this (?:morning|afternoon|evening)|(?:last|next|this) {_SEASON}\b)"
)
_RELATIVE_CUES = listed("this last next This Last Next")


def times(tokens: Tokens) -> Iterator[Found]:
    """Yield dates and times, and the stretch from one to another as a whole."""
    found = [*_dates(tokens), *_days(tokens), *_clocks(tokens)]
    yield from found
    yield from _stretches(tokens.text, found)


def _dates(tokens: Tokens) -> Iterator[Found]:
    """Yield what a number, a month or a season begins."""
    text, starts = tokens.text, tokens.starts
    for index in tokens.numbers:
        match = _NUMERIC.match(text, starts[index])
        if match and match.lastgroup:
            type_, confidence = _NUMERIC_TYPES[match.lastgroup]
            start = _since(text, match.start()) if type_ == "DATE" else match.start()
            yield Found(start, match.end(), type_, confidence, "form")
    for index in tokens.places(_MONTH_NAMES):
        start = starts[index]
        match = _MONTHLY.match(text, start)
        if match:
            yield Found(_since(text, start), match.end(), "DATE", 1.0, "form")
        elif tokens.words[index].upper() != "MAY" or _MONTH_CUE.search(
            text, max(0, start - 12), start
        ):
            yield Found(start, tokens.ends[index], "DATE", 0.8, "month")
    for index in tokens.places(_SEASONS):
        match = _SEASONAL.match(text, starts[index])
        if match:
            yield Found(*match.span(), "DATE", 0.9, "season")


def _since(text: str, start: int) -> int:
    """Take the words in front along that say which part of it."""
    lead = _ROUGHLY.search(text, max(0, start - 20), start)
    return lead.start() if lead else start


def _days(tokens: Tokens) -> Iterator[Found]:
    """Yield weekdays, feasts and what is counted from today."""
    text, starts, ends = tokens.text, tokens.starts, tokens.ends
    for index in tokens.places(_WEEKDAY_NAMES):
        cue = _WEEKDAY_CUE.search(text, max(0, starts[index] - 6), starts[index])
        after = _PART_OF_DAY.match(text, ends[index])
        start = cue.start() if cue else starts[index]
        end = after.end() if after else ends[index]
        yield Found(start, end, "DATE", 0.6, "weekday")
    for index in tokens.places(_FEASTS):
        match = _FEAST.match(text, starts[index])
        if match:
            yield Found(*match.span(), "DATE", 0.6, "feast")
    for index in tokens.places(_RELATIVE_CUES):
        match = _RELATIVE.match(text, starts[index])
        if match:
            yield Found(*match.span(), "DATE", 0.55, "relative")


def _clocks(tokens: Tokens) -> Iterator[Found]:
    """Yield times of day in words."""
    text, starts, ends = tokens.text, tokens.starts, tokens.ends
    for index in tokens.places(_CLOCK_CUES):
        match = _CLOCK_WORDS.match(text, starts[index])
        if match:
            lead = _CLOCK_LEAD.search(text, max(0, match.start() - 7), match.start())
            start = lead.start() if lead else match.start()
            yield Found(start, match.end(), "TIME", 0.8, "words")
    for index in tokens.places(("o'clock",)):
        hour = _ON_THE_HOUR.search(text, max(0, starts[index] - 8), starts[index])
        if hour:
            yield Found(hour.start(), ends[index], "TIME", 0.8, "words")
    for index in tokens.places(("noon", "midnight")):
        yield Found(starts[index], ends[index], "TIME", 0.8, "words")


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
