"""
Numbers with what they count: money, doses, durations, ages, quantities.

Amounts are found from the unit backwards: the unit is looked up, and the number before
it is read token by token, in digits or in words. What a bare number counts only its
reader can say, so its confidence is low. A number of two or more with a noun in the
plural (seventy-one hearings) tells one case from others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.tables import (
    NUMBER_WORDS,
    UNITS,
    listed,
    word_set,
)
from sdrag.detectors.local.tokens import Candidate, TokenIndex

_CURRENCIES = word_set("currencies")
_RELATIVE = re.compile(r" (?:later|earlier|before|after|ago|previously|from now)\b")
_OLD = re.compile("[ -]old| of age")
_AGE_WORDS = listed("year years month months week weeks day days")
_JOINS = frozenset(("and", "a", "of", "to", "or", "point"))
_ABOUT = re.compile(r"\b(?:approximately|about|nearly|almost|approx\.) $")
_BETWEEN = frozenset(
    ("consecutive", "full", "whole", "more", "pounds", "further", "square", "cubic")
)
_CURRENCY_CODE = re.compile(r" (?:sterling )?\([A-Z]{3}\)?")
_GAPS = frozenset((" ", "-", "", " ("))
_TIMES = re.compile(r"\d[\d.,]* ?[x\u00d7] ?$")


def find_amounts(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield amounts."""
    for word in tokens.where:
        if word not in UNITS and _CURRENCIES.isdisjoint((word, word.lower())):
            continue
        kind = UNITS.get(word, "MONEY")
        for index in tokens.where[word]:
            yield from _measure(tokens, index, kind)


def _with_lead(text: str, amount: Candidate) -> Candidate:
    """Take the word in front along that says the amount is rough."""
    lead = _ABOUT.search(text, max(0, amount.start - 14), amount.start)
    return amount._replace(start=lead.start()) if lead else amount


def _measure(tokens: TokenIndex, index: int, kind: str) -> Iterator[Candidate]:
    first = _number_before(tokens, index)
    if first is None:
        return
    text, end = tokens.text, tokens.ends[index]
    code = _CURRENCY_CODE.match(text, end) if kind == "MONEY" else None
    if code:
        end = code.end()
    start = tokens.starts[_first_of_whole(tokens, first)]
    later = _RELATIVE.match(text, end) if kind == "DURATION" else None
    if later:
        yield Candidate(start, later.end(), "DATE", 0.95, "relative")
    old = _OLD.match(text, end) if tokens.words[index] in _AGE_WORDS else None
    if old:
        yield Candidate(start, old.end(), "AGE", 1.0, "unit")
        return
    by = _TIMES.search(text, max(0, start - 12), start)
    yield _with_lead(
        text, Candidate(by.start() if by else start, end, kind, 0.9, "unit")
    )


def _first_of_whole(tokens: TokenIndex, first: int) -> int:
    """Return the first token of the longer amount: three years and nine months."""
    words = tokens.words
    if first > 2 and words[first - 1] == "and" and words[first - 2] in UNITS:
        before = _number_before(tokens, first - 2)
        if before is not None:
            return before
    return first


def _number_before(tokens: TokenIndex, index: int) -> int | None:
    """Return the first token of the number that ends before the token."""
    words = tokens.words
    first = None
    position = index
    while position > 0 and index - position < 8:
        if tokens.gap(position) not in _GAPS:
            break
        word = words[position - 1]
        qualifies = word[0].isupper() or word in _BETWEEN
        if word[0].isdigit() or word.lower() in NUMBER_WORDS:
            first = position - 1
        elif (first is None and index - position < 2 and qualifies) or (
            word in _SHORT_MAGNITUDES and words[position - 2][:1].isdigit()
        ):
            pass
        elif word not in _JOINS or first is None:
            break
        position -= 1
    return first


_SHORT_MAGNITUDES = listed("bn mn tn mio Mio mrd Mrd k K m M lakh lac crore")


_SINGLE = frozenset(("one", "once", "half", "couple"))
_FEW = _SINGLE | {"zero", "twice"}
_NUMBERS = NUMBER_WORDS | {word.capitalize() for word in NUMBER_WORDS}
_PLURAL = re.compile(
    r" (?:(?:other|more|different|separate|further|additional) )?"
    r"([a-z-]{3,30}s|children|people|men|women)\b"
)
_LARGE = re.compile(r"\d{3}|\d{5}|\d{1,3}(?:,\d{3})+")
_NO_PLURAL = re.compile(r"(?:ss|us|is|ys|'s)$")
_SINGULAR = listed("was has his this its as thus does news series always perhaps")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d$")
_IN_FILE = re.compile(r"[-_/](?:0\d{1,3}|(?:19|20)\d\d)(?=[-_./]\w)(?![-_.]\d)")
"""A year or a number with zeros before it in a file's name: `report-2024.pdf`."""
_REFERENCE = re.compile(
    r"(?:[\u00a7.(/:-]|\b(?:Articles?|Rules?|Sections?|[Pp]aragraphs?|Protocol|[A-Z]\w*)"
    r"|\b(?:paras?|nos?|pages?|p|ss?|at)|\d(?:,| and| or| to))\.? ?$"
)


def find_counts(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield numbers, and what they count."""
    for index in tokens.numbers:
        start, end = tokens.starts[index], tokens.ends[index]
        word = tokens.words[index]
        in_file = _IN_FILE.match(tokens.text, max(0, start - 1))
        yield Candidate(start, end, "NUMBER", 0.3, "file" if in_file else "digits")
        if word in {"0", "1"} or _YEAR.match(word):
            continue
        if _REFERENCE.search(tokens.text, max(0, start - 14), start):
            continue
        if _LARGE.fullmatch(word):
            yield Candidate(start, end, "QUANTITY", 0.5, "large")
        yield from _find_counted(tokens.text, start, end)
    done = -1
    for index in sorted(tokens.indices(_NUMBERS)):
        if index <= done:
            continue
        done = _last(tokens, index)
        word = tokens.words[index].lower()
        if word not in _SINGLE or done > index:
            start, end = tokens.starts[index], tokens.ends[done]
            yield Candidate(start, end, "NUMBER", 0.2, "words")
            if word not in _FEW:
                yield from _find_counted(tokens.text, start, end)


_JOINING = frozenset(("and", "a"))


def _last(tokens: TokenIndex, index: int) -> int:
    """Return the last word of the number that begins with the token."""
    last = index
    while True:
        joined = 0
        for ahead, word in enumerate(tokens.words[last + 1 : last + 5], start=1):
            if tokens.gap(last + ahead) not in (" ", "-"):
                break
            if word in NUMBER_WORDS or word == "quarter":
                joined = ahead
            elif word not in _JOINING:
                break
        if not joined:
            return last
        last += joined


def _find_counted(text: str, start: int, end: int) -> Iterator[Candidate]:
    match = _PLURAL.match(text, end)
    if match is None or match[1] in UNITS or match[1] in _SINGULAR:
        return
    if not _NO_PLURAL.search(match[1]):
        yield Candidate(start, match.end(), "QUANTITY", 0.5, "plural")
