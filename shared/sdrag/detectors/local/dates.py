"""
Dates and times: in English, in other languages, and as machines write them.

They are looked for at a number, a month, a weekday or another word for a time. No
calendar library validates them: people write impossible dates (31 June, 5 December
20040), and these identify all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.lexicon import WEEKDAYS, cased, listed
from sdrag.detectors.local.tables import word_set
from sdrag.detectors.local.tokens import Candidate, Tokens, begun, matches
from sdrag.detectors.local.worded_dates import (
    CENTURY,
    DAY,
    MONTH_NAMES,
    YEAR,
    counted_dates,
    worded_dates,
)

__all__ = ["foreign_dates", "times", "timestamps"]


_MONTH = (
    r"(?:Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?|July?"
    r"|Aug(?:ust|\.)?|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?"
    r"|Dec(?:ember|\.)?|JANUARY|FEBRUARY|MARCH|APRIL|MAY|JUNE|JULY|AUGUST|SEPTEMBER"
    r"|OCTOBER|NOVEMBER|DECEMBER)(?![a-z])"
)
_CLOCK = r"(?:[01]?\d|2[0-4])[:.][0-5]\d(?:[:.][0-5]\d)?(?:\.\d{1,6})?"
_ZONE = (
    r"(?: ?(?:[ap]\.?m\b\.?|[AP]M\b|hrs?\b|h\b|Z\b|UTC\b|GMT\b|IST\b|[ECMP][SD]?T\b))"
)
_SEASON = r"(?:spring|summer|autumn|winter|fall)"
_COMPACT = rf"{CENTURY}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
# What a date or a time that begins with a number may be, the longest form first.
_NUMERIC = re.compile(
    rf"(?P<iso>(?<![\w./-]){YEAR}[-/.](?:1[0-2]|0?[1-9])[-/.](?:3[01]|[12]\d|0?[1-9])"
    rf"(?:[T ]{_CLOCK}{_ZONE}?)?(?![\w/-]))"
    r"|(?P<short>(?<![\w./-])\d{1,2}([./-])\d{1,2}\3(?:\d{4}|\d{2})(?![\w/-]))"
    rf"|(?P<day>(?<![\w.,-])(?:{DAY}(?:,? ?(?:-|to|and|or|until) ?|, ))?{DAY}"
    rf" (?:day )?(?:of )?{_MONTH}(?:,? {YEAR}\b)?)"
    rf"|(?P<named>(?<![\w/-]){YEAR}-{_MONTH}(?:-{DAY})?\b)"
    r"|(?P<hour>(?<![\w.,/:-])(?:[01]?\d|2[0-4]) ?(?:[ap]\.?m\b\.?|[AP]M\b|o'clock"
    r"|noon\b|midnight\b))"
    rf"|(?P<clock>(?<![\w.,/:-]){_CLOCK}{_ZONE}?(?![\w:/%]))"
    rf"|(?P<compact>(?<![A-Za-z0-9.,/:$\u20ac\u00a3]){_COMPACT}(?![A-Za-z0-9/:%]|[.,-]\d))"
    r"|(?P<roman>(?<![\w.,/-])\d{1,2}[./] ?[IVX]{1,4}[./] ?\d{4}\b)"
    rf"|(?P<fiscal>(?<=FY){CENTURY}(?:[/-]\d\d)?(?!\w))"
    rf"|(?P<year>(?<![\w.,/:$\u20ac\u00a3-]){YEAR}s?"
    rf"(?:[-/](?:{YEAR}|\d\d))?(?![\w/:%]|[.,-]\d))"
)
_NUMERIC_TYPES = {
    "iso": ("DATE", 1.0),
    "short": ("DATE", 0.95),
    "day": ("DATE", 1.0),
    "named": ("DATE", 0.9),
    "compact": ("DATE", 0.55),
    "roman": ("DATE", 0.9),
    "fiscal": ("DATE", 0.8),
    "hour": ("TIME", 1.0),
    "clock": ("TIME", 0.8),
    "year": ("DATE", 0.7),
}
_MONTHLY = re.compile(
    rf"{_MONTH}(?: {DAY}(?: ?(?:-|to|and) ?{DAY})?(?!\d)(?:,? {YEAR})?\b"
    rf"|,? (?:of )?{YEAR}\b)"
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
    rf"(?i:{_SEASON})(?: (?:and|or) {_SEASON})?(?:,? (?:of )?(?:the year )?{YEAR}\b)"
)
_FEASTS = word_set("feasts")
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


def times(tokens: Tokens) -> Iterator[Candidate]:
    """Yield dates and times, and the stretch from one to another as a whole."""
    found = [*_dates(tokens), *worded_dates(tokens), *_days(tokens), *_clocks(tokens)]
    yield from found
    yield from _stretches(tokens.text, found)
    yield from counted_dates(tokens)


def _dates(tokens: Tokens) -> Iterator[Candidate]:
    """Yield what a number, a month or a season begins."""
    text, starts = tokens.text, tokens.starts
    for index in tokens.numbers:
        match = _NUMERIC.match(text, starts[index])
        if match and match.lastgroup:
            type_, confidence = _NUMERIC_TYPES[match.lastgroup]
            start = _since(text, match.start()) if type_ == "DATE" else match.start()
            yield Candidate(start, match.end(), type_, confidence, "form")
    for index in tokens.indices(MONTH_NAMES):
        start = starts[index]
        match = _MONTHLY.match(text, start)
        if match:
            yield Candidate(_since(text, start), match.end(), "DATE", 1.0, "form")
        elif tokens.words[index].upper() != "MAY" or _MONTH_CUE.search(
            text, max(0, start - 12), start
        ):
            yield Candidate(start, tokens.ends[index], "DATE", 0.8, "month")
    for match in begun(_SEASONAL, tokens, _SEASONS):
        yield Candidate(*match.span(), "DATE", 0.9, "season")


def _since(text: str, start: int) -> int:
    """Take the words in front along that say which part of it."""
    lead = _ROUGHLY.search(text, max(0, start - 20), start)
    return lead.start() if lead else start


def _days(tokens: Tokens) -> Iterator[Candidate]:
    """Yield weekdays, feasts and what is counted from today."""
    text, starts, ends = tokens.text, tokens.starts, tokens.ends
    for index in tokens.indices(_WEEKDAY_NAMES):
        cue = _WEEKDAY_CUE.search(text, max(0, starts[index] - 6), starts[index])
        after = _PART_OF_DAY.match(text, ends[index])
        start = cue.start() if cue else starts[index]
        end = after.end() if after else ends[index]
        yield Candidate(start, end, "DATE", 0.6, "weekday")
    for match in begun(_FEAST, tokens, _FEASTS):
        yield Candidate(*match.span(), "DATE", 0.6, "feast")
    for match in begun(_RELATIVE, tokens, _RELATIVE_CUES):
        yield Candidate(*match.span(), "DATE", 0.55, "relative")


def _clocks(tokens: Tokens) -> Iterator[Candidate]:
    """Yield times of day in words."""
    text, starts, ends = tokens.text, tokens.starts, tokens.ends
    for match in begun(_CLOCK_WORDS, tokens, _CLOCK_CUES):
        lead = _CLOCK_LEAD.search(text, max(0, match.start() - 7), match.start())
        start = lead.start() if lead else match.start()
        yield Candidate(start, match.end(), "TIME", 0.8, "words")
    for index in tokens.indices(("o'clock",)):
        hour = _ON_THE_HOUR.search(text, max(0, starts[index] - 8), starts[index])
        if hour:
            yield Candidate(hour.start(), ends[index], "TIME", 0.8, "words")
    for index in tokens.indices(("noon", "midnight")):
        yield Candidate(starts[index], ends[index], "TIME", 0.8, "words")


def _stretches(text: str, found: list[Candidate]) -> Iterator[Candidate]:
    """Join neighbours: 1 March and 31 December 1998."""
    by_start = {
        candidate.start: candidate
        for candidate in found
        if candidate.confidence >= _JOINABLE
    }
    for candidate in found:
        if candidate.confidence < _JOINABLE:
            continue
        join = _JOINED.match(text, candidate.end)
        after = by_start.get(join.end()) if join else None
        if join is None or after is None:
            continue
        between = _BETWEEN.search(text, max(0, candidate.start - 8), candidate.start)
        if (
            not between
            and "and" in join.group()
            and _YEARED.search(text[candidate.start : candidate.end])
        ):
            continue
        start = (
            between.start()
            if between and between.group()[1] == "e"
            else candidate.start
        )
        yield Candidate(start, after.end, "DATE", 0.9, "stretch")


_FOREIGN_MONTHS = cased(word_set("foreign_months"))
_DAY_BEFORE = re.compile(
    r"(?<![\w.,-])(?:3[01]|[12]\d|0?[1-9])(?:\.|er|o|\u00ba)? (?:de )?$"
)
_YEAR_AFTER = re.compile(r"(?: de[l]?)? (?:1[5-9]|20)\d\d\b(?: r\.)?")
_EASTERN = re.compile(
    r"\d{4}[\u5e74\ub144] ?\d{1,2}[\u6708\uc6d4](?: ?\d{1,2}[\u65e5\uc77c])?"
)
_DAY_REACH = 8


def foreign_dates(tokens: Tokens) -> Iterator[Candidate]:
    """Yield a day, a month of another language and its year."""
    text = tokens.text
    for word in filter(_FOREIGN_MONTHS.__contains__, tokens.where):
        for index in tokens.where[word]:
            start, end = tokens.starts[index], tokens.ends[index]
            day = _DAY_BEFORE.search(text, max(0, start - _DAY_REACH), start)
            year = _YEAR_AFTER.match(text, end)
            if day or year:
                first = day.start() if day else start
                last = year.end() if year else end
                yield Candidate(
                    first, last, "DATE", 0.95 if day and year else 0.8, "month"
                )
    if not text.isascii():
        for match in _EASTERN.finditer(text):
            yield Candidate(*match.span(), "DATE", 0.95, "month")


_SECONDS = r"[0-5]?\d[:.][0-5]\d(?:[:.][0-5]\d(?:[.,]\d{1,12})?)?"
_BASIC = r"[0-2]\d[0-5]\d(?:[0-5]\d(?:[.,]\d{1,12})?)?(?=Z|[+-]\d|[^\w:.-]|$)"
_OFFSET = r"(?: ?(?:Z\b|UTC\b|GMT\b|[+-][0-2]\d:?[0-5]\d\b|[+-][0-2]\d\b))"
_NAMES = (
    r"(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_STAMP = re.compile(
    r"(?<![\w./:-])(?:"
    rf"(?P<moment>\d{{4}}[-/.]?\d\d[-/.]?\d\d[Tt ](?:{_SECONDS}|{_BASIC}){_OFFSET}?"
    r"(?![\w:]))"
    rf"|(?P<numeric>\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}[T ,]{{1,2}}{_SECONDS}{_OFFSET}?"
    r"(?: ?[AaPp]\.?[Mm]\b)?(?![\w:]))"
    r"|(?P<week>\d{4}-?W[0-5]\d(?:-?[1-7])?(?!\w))"
    rf"|(?P<named>\d{{1,2}}[-/. ]?{_NAMES}(?:[-/. ]?\d{{4}}|[-/.]\d\d| ?'\d\d)"
    rf"(?:[T :,]{{1,2}}{_SECONDS}{_OFFSET}?)?(?![\w:]))"
    rf"|(?P<monthly>(?:{_NAMES}(?:[-/]\d{{4}}|[-/]\d{{1,2}}[-/]\d{{2,4}}|-\d\d)"
    rf"|\d{{1,2}}-{_NAMES}|\d{{4}}/{_NAMES}/\d{{1,2}})(?![\w/-]))"
    rf"|(?P<month>(?:0?[1-9]|1[0-2])/{CENTURY}(?![\w/-]))"
    rf"|(?P<quarter>(?:Q[1-4][ /-]?{CENTURY}|{CENTURY}[ /-]?Q[1-4]|H[12] {CENTURY})"
    r"(?!\w))"
    r")"
)
_STAMP_CLOCK = re.compile(
    rf"(?<![\w.,/:-])(?:T?[0-2]\d:[0-5]\d(?::[0-5]\d(?:[.,]\d{{1,12}})?)?{_OFFSET}"
    r"|[0-2]?\d:[0-5]\d:[0-5]\d[.,]\d{1,9}|[0-2]?\dh[0-5]\d"
    r"|[0-2]\d[0-5]\d ?(?:hrs?|hours)|[0-2]?\d[:.][0-5]\d ?(?:[Uu]hr|[ap]m(?!\.))"
    r"|[0-2]?\d[:.][0-5]\d[ap]"
    r"|[01]?\d(?::[0-5]\d){1,2} ?[AaPp]\.?[Mm]\.?,? (?:[A-Z]{1,3}T|UTC|GMT))(?!\w)"
)
_STAMP_CONFIDENCE = {
    "moment": 1.0,
    "numeric": 1.0,
    "named": 0.95,
    "monthly": 0.9,
    "week": 0.8,
    "month": 0.75,
    "quarter": 0.8,
}


def timestamps(text: str, positions: list[int]) -> Iterator[Candidate]:
    """Yield dates with their times, and times with a fraction or an offset."""
    for match in matches(_STAMP, text, positions):
        confidence = _STAMP_CONFIDENCE[match.lastgroup or "moment"]
        yield Candidate(*match.span(), "DATE", confidence, "stamp")
    for match in matches(_STAMP_CLOCK, text, positions):
        yield Candidate(*match.span(), "TIME", 0.9, "stamp")
