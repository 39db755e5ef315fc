"""
Numbers with what they count: money, doses, durations, ages, quantities.

Found from the unit backwards. The unit is looked up, the number before it is read token
by token, in digits or in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import CURRENCIES, NUMBER_WORDS, UNITS, listed
from sdrag.detectors.local.words import Tokens

__all__ = ["measures"]

_NUMERAL = r"(?:\d{1,3}(?:[,. ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?)"
_SIGN = re.compile("[$\u20ac\u00a3\u00a5\u20b9]")
_CODES = listed("""
        EUR USD GBP CHF SEK NOK DKK PLN TRL TRY YTL DEM ATS FRF ITL JPY CNY INR AUD
        CAD NZD CYP RUB UAH HUF CZK SKK RON ROL BGN BEF NLG ESP PTE GRD FIM MDL HRK
        Rs US AU NZ CA
        """)
_MONEY = re.compile(
    rf"(?:(?:US|AU|NZ|CA)?[$\u20ac\u00a3\u00a5\u20b9]|Rs\.?|[A-Z]{{3}}) ?{_NUMERAL}"
    r"(?: ?(?:million|billion|thousand|bn|m|k|M|K)\b)?"
)
_COUNTED = re.compile(
    rf"(?P<percent>(?<![\d.,]){_NUMERAL} ?(?:%|per cent\b|percent\b))"
    r"|(?P<glued>\d+(?:[.,]\d+)?(?P<unit>mg|mcg|ml|g|kg|km|cm|mm|m|kW|GB|MB|lb|lbs)\b)"
    r"|(?P<age>(?<=, )\d{2}(?=, |\)| \())"
)
_AGE = re.compile(
    r"[Aa](?:ged?(?: (?:is|was|of))?|ge:) ?(\d{1,3}|(?!of\b)[a-z]+(?:[- ](?:one|two"
    r"|three|four|five|six|seven|eight|nine))?)\b"
)
_IS_AGED = re.compile(r" (\d{1,2})(?=[.,;!?]| and\b| y/o| yrs?\b|$)")
_IS = listed("is was am turn turned turning I'm i'm she's he's She's He's")
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
_TIMES = re.compile(rf"{_NUMERAL} ?[x\u00d7] ?$")


def measures(tokens: Tokens) -> Iterator[Found]:
    """Yield amounts."""
    yield from _signed(tokens)
    yield from _written(tokens)
    yield from _ages(tokens)
    units = [word for word in tokens.where if word in UNITS or _currency(word)]
    for word in units:
        kind = UNITS.get(word, "MONEY")
        for index in tokens.where[word]:
            yield from _counted(tokens, index, kind)


def _signed(tokens: Tokens) -> Iterator[Found]:
    """Yield money by the sign or the code in front."""
    text = tokens.text
    places = [match.start() for match in _SIGN.finditer(text)]
    places += [tokens.starts[index] for index in tokens.places(_CODES)]
    for place in places:
        match = _MONEY.match(text, place)
        if match:
            yield _led(text, Found(*match.span(), "MONEY", 1.0, "currency"))


def _written(tokens: Tokens) -> Iterator[Found]:
    """Yield what a number begins."""
    for index in tokens.numbers:
        match = _COUNTED.match(tokens.text, tokens.starts[index])
        if match is None:
            continue
        if match["percent"]:
            yield Found(*match.span(), "QUANTITY", 0.8, "percent")
        elif match["glued"]:
            kind = UNITS.get(match["unit"], "QUANTITY")
            yield Found(*match.span(), kind, 0.9, "unit")
        else:
            yield Found(*match.span(), "AGE", 0.8, "context")


def _ages(tokens: Tokens) -> Iterator[Found]:
    """Yield ages by the word in front."""
    text = tokens.text
    for index in tokens.places(("aged", "age", "Aged", "Age")):
        match = _AGE.match(text, tokens.starts[index])
        if match and (
            match[1].isdigit() or re.split("[ -]", match[1])[0] in NUMBER_WORDS
        ):
            yield Found(*match.span(1), "AGE", 0.8, "context")
    for index in tokens.places(_IS):
        match = _IS_AGED.match(text, tokens.ends[index])
        if match:
            yield Found(*match.span(1), "AGE", 0.8, "context")


def _led(text: str, found: Found) -> Found:
    """Take the word in front along that says the amount is rough."""
    lead = _ABOUT.search(text, max(0, found.start - 14), found.start)
    return found._replace(start=lead.start()) if lead else found


def _currency(word: str) -> bool:
    return word in CURRENCIES or word.lower() in CURRENCIES


def _counted(tokens: Tokens, index: int, kind: str) -> Iterator[Found]:
    first = _number_before(tokens, index)
    if first is None:
        return
    text, end = tokens.text, tokens.ends[index]
    code = _CURRENCY_CODE.match(text, end) if kind == "MONEY" else None
    if code:
        end = code.end()
    start = tokens.starts[_whole(tokens, first)]
    later = _RELATIVE.match(text, end) if kind == "DURATION" else None
    if later:
        yield Found(start, later.end(), "DATE", 0.95, "relative")
    old = _OLD.match(text, end) if tokens.words[index] in _AGE_WORDS else None
    if old:
        yield Found(start, old.end(), "AGE", 1.0, "unit")
        return
    by = _TIMES.search(text, max(0, start - 12), start)
    yield _led(text, Found(by.start() if by else start, end, kind, 0.9, "unit"))


def _whole(tokens: Tokens, first: int) -> int:
    """Return the first token of the longer amount: three years and nine months."""
    words = tokens.words
    if first > 2 and words[first - 1] == "and" and words[first - 2] in UNITS:
        before = _number_before(tokens, first - 2)
        if before is not None:
            return before
    return first


def _number_before(tokens: Tokens, index: int) -> int | None:
    """Return the first token of the number that ends before the token."""
    words = tokens.words
    first = None
    place = index
    while place > 0 and index - place < 8:
        if tokens.gap(place) not in _GAPS:
            break
        word = words[place - 1]
        if word[0].isdigit() or word.lower() in NUMBER_WORDS:
            first = place - 1
        elif first is None and index - place < 2 and _qualifies(word):
            pass
        elif word not in _JOINS or first is None:
            break
        place -= 1
    return first


def _qualifies(word: str) -> bool:
    """Say whether the word may stand between a number and its unit."""
    return word[0].isupper() or word in _BETWEEN
