"""
Dates that are written out or counted: the twenty-first of June, CW 23, 1714720462.

A year in words counts behind a month or a word that introduces years, an epoch time
behind a word for a time or where a line of a log begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.lexicon import MONTHS, cased, listed
from sdrag.detectors.local.tokens import Candidate, Tokens, begun

__all__ = ["CENTURY", "DAY", "MONTH_NAMES", "YEAR", "counted_dates", "worded_dates"]


DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
YEAR = r"(?:1[5-9]|20)\d\d"
CENTURY = r"(?:19|20)\d\d"
MONTH_NAMES = MONTHS | {
    name.upper() for name in MONTHS if len(name) > 3 or name == "May"
}
_UNIT = (
    "(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|one|two|three|four|five|six"
    "|seven|eight|nine)"
)
_TEEN = "(?:ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)"
_TENS = f"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -]{_UNIT})?"
_BELOW = f"(?:{_TENS}|{_TEEN}|{_UNIT})"
_ORDINAL = (
    "(?:(?:twenty|thirty)[ -]?(?:first|second|third|fourth|fifth|sixth|seventh|eighth"
    "|ninth)"
    "|twentieth|thirtieth|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
    "|eleventh|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teenth)"
)
_WORDED_YEAR = (
    f"(?:two thousand(?: and)?(?: {_BELOW})?|(?:seven|eigh"
    f"|nine)teen(?: hundred(?: and)?(?: {_BELOW})?"
    f"|[ -](?:oh?[ -]{_UNIT}|{_TENS}|{_TEEN}))|twenty[ -](?:oh[ -]{_UNIT}|{_TENS}"
    f"|{_TEEN}))"
)
_SAID_YEAR = (
    r"(?:,? (?:in |of )?(?:the |this )?(?:year|anno)(?: of (?:our|the) Lord| of grace"
    r"| Domini)?,?"
    r"(?: of)?|,? (?:A\.?D\.?|anno Domini),?)"
)
_LATER_YEAR = re.compile(
    rf"(?i:(?:{_SAID_YEAR}|,)? (?:{_WORDED_YEAR}|{YEAR}|M{{1,3}}[CDXLVI]{{1,12}})\b)"
)
_DAY_IN_WORDS = re.compile(
    rf"(?:\b(?i:(?:{_ORDINAL}|{DAY})(?: day)?(?:,? (?:of"
    rf"|in))?(?: the month of)?) )$"
)
_DAY_AFTER = re.compile(rf"(?i:,? (?:the )?(?:{_ORDINAL})\b)")
_YEAR_CUE = re.compile(
    r"\b(?i:in|of|since|until|till|by|from|to|before|after|during|early|late|year|spring|summer"
    r"|autumn|winter|and|or|domini|lord),? $"
)
_YEAR_IN_WORDS = re.compile(
    rf"(?i:{_WORDED_YEAR})(?![\w-]| (?:pounds|euros|dollars|people|per)\b)"
)
_YEAR_STARTS = cased(listed("seventeen eighteen nineteen twenty two"))
_YEAR_LORD = re.compile(
    rf"(?i:(?:year of (?:our|the) Lord|anno Domini),? (?:{_WORDED_YEAR}|{YEAR}"
    r"|M{1,3}[CDXLVI]{1,12})\b)"
)
_DECADE = re.compile(
    r"(?i:(?:early |late |mid-?)?(?:(?:eigh|nine)teen[ -])?(?:twenties|thirties|forties"
    r"|fifties"
    r"|sixties|seventies|eighties|nineties))\b"
)
_DECADES = cased(
    listed("twenties thirties forties fifties sixties seventies eighties nineties")
)
_WEEK = re.compile(
    r"(?:(?:CW|KW|[Cc]alendar [Ww]eek) ?\d{1,2}(?:(?: ?/ ?| of | |-)(?:20)?\d\d)?"
    rf"|[Ww](?:ee)?k\.? \d{{1,2}}(?: of |, | ?/ ?|-){CENTURY})(?![\w/])"
)
_SHORT_YEAR = re.compile(r"(?<![\w'])'\d\d(?![\w'])")
_NEXT_MONTH = re.compile(
    rf"\b(?:the )?{DAY} (?:of )?(?:this|next|last|the (?:following|previous)) month\b"
)
_EPOCH = re.compile(r"(?<![\w.,+-])1[0-9]{9}(?:\.\d{1,9}|\d{3}|\d{6})?(?!\w|[.,]\d)")
_EPOCH_CUE = re.compile(
    r"(?i:(?:\b|_|(?<=[a-z]))(?:ts|time|times|timestamp|at|epoch|date|created|updated|modified"
    r"|started|finished|ended|expires?|exp|iat|nbf|mtime|ctime|atime|since|until|before|after|when"
    r"|unix|last_?seen|logged|on)(?:_?ms"
    r"|_?s)?[\"'\])]{0,2}[ \t]{0,2}[:=@]?[ \t]{0,2}[\"'\[(@]{0,2})$"
    r"|^[ \t]*[\[(]?$|@$"
)


def worded_dates(tokens: Tokens) -> Iterator[Candidate]:
    """Yield dates in words, weeks, decades and what a clock of a machine counts."""
    text, starts, ends = tokens.text, tokens.starts, tokens.ends
    for index in tokens.indices(MONTH_NAMES):
        start, end = starts[index], ends[index]
        day = _DAY_IN_WORDS.search(text, max(0, start - 48), start)
        after = None if day else _DAY_AFTER.match(text, end)
        if after:
            end = after.end()
        year = _LATER_YEAR.match(text, end)
        if day or after or year:
            first = day.start() if day else start
            yield Candidate(first, year.end() if year else end, "DATE", 0.9, "words")
    for match in begun(_YEAR_IN_WORDS, tokens, _YEAR_STARTS):
        if _YEAR_CUE.search(text, max(0, match.start() - 12), match.start()):
            sure = (
                0.6
                if match.group().lower().startswith(("eigh", "nine", "seven"))
                else 0.5
            )
            yield Candidate(*match.span(), "DATE", sure, "words")
    for match in begun(_DECADE, tokens, _DECADES):
        yield Candidate(*match.span(), "DATE", 0.55, "decade")
    for match in begun(_YEAR_LORD, tokens, ("year", "anno", "Anno")):
        yield Candidate(*match.span(), "DATE", 0.9, "words")


def counted_dates(tokens: Tokens) -> Iterator[Candidate]:
    """Yield calendar weeks, years of two figures, days of a month and epoch times."""
    text, starts = tokens.text, tokens.starts
    for match in begun(_WEEK, tokens, _WEEK_CUES):
        yield Candidate(*match.span(), "DATE", 0.8, "week")
    for index in tokens.numbers:
        start = starts[index]
        epoch = _EPOCH.match(text, start)
        if epoch and _EPOCH_CUE.search(
            text, max(text.rfind("\n", 0, start) + 1, start - 24), start
        ):
            yield Candidate(*epoch.span(), "DATE", 0.7, "epoch")
        for pattern, first in ((_SHORT_YEAR, start - 1), (_NEXT_MONTH, start)):
            form = pattern.match(text, max(0, first))
            if form:
                yield Candidate(*form.span(), "DATE", 0.6, "form")


_WEEK_CUES = ("CW", "KW", "calendar", "Calendar", "week", "Week", "wk", "Wk", "Wk")
