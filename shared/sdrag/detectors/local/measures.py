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
from sdrag.detectors.local.tokens import Tokens

__all__ = ["measures"]

_NUMERAL = r"\d{1,3}(?:[,. ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?"
_MONEY = re.compile(
    rf"(?:(?:US|AU|NZ|CA)?[$\u20ac\u00a3\u00a5\u20b9]|\bRs\.?|\b(?:EUR|USD|GBP|CHF|SEK|NOK"
    rf"|DKK|PLN|TRL|TRY|YTL|DEM|ATS|FRF|ITL|JPY|CNY|INR|AUD|CAD|NZD|CYP|RUB|UAH|HUF|CZK))"
    rf" ?(?:{_NUMERAL})(?: ?(?:million|billion|thousand|bn|m|k|M|K)\b)?"
)
_PERCENT = re.compile(rf"(?<![\d.,])(?:{_NUMERAL}) ?(?:%|per cent\b|percent\b)")
_GLUED = re.compile(r"\b\d+(?:[.,]\d+)?(mg|mcg|ml|g|kg|km|cm|mm|m|kW|GB|MB|lb|lbs)\b")
_AGE = re.compile(
    r"\b[Aa](?:ged?|ge of|ge:) ?(\d{1,3}|(?!of\b)[a-z]+(?:[- ](?:one|two"
    r"|three|four|five"
    r"|six|seven|eight|nine))?)\b"
    r"|\b(?:is|was|am|turn|turned|turning|[Ii]'m|she's|he's) (\d{1,2})"
    r"(?=[.,;!?]| and\b| y/o| yrs?\b|$)"
    r"|(?<=, )(\d{2})(?=, |\)| \()"
)
_RELATIVE = re.compile(r" (?:later|earlier|before|after|ago|previously|from now)\b")
_AGE_WORDS = listed("year years month months week weeks day days")
_JOINS = frozenset(("and", "a", "of", "to", "or", "point"))
_ABOUT = re.compile(r"\b(?:approximately|about|nearly|almost|approx\.) $")
_BETWEEN = frozenset(("consecutive", "full", "whole", "more", "pounds", "further"))
_CURRENCY_CODE = re.compile(r" (?:sterling )?\([A-Z]{3}\)?")


def measures(tokens: Tokens) -> Iterator[Found]:
    """Yield amounts."""
    text = tokens.text
    for match in _MONEY.finditer(text):
        yield _led(text, Found(*match.span(), "MONEY", 1.0, "currency"))
    for match in _PERCENT.finditer(text):
        yield Found(*match.span(), "QUANTITY", 0.8, "percent")
    for match in _GLUED.finditer(text):
        measured = UNITS.get(match.group(1), "QUANTITY")
        yield Found(*match.span(), measured, 0.9, "unit")
    for match in _AGE.finditer(text):
        group = match.lastindex or 1
        value = match.group(group)
        if value.isdigit() or re.split("[ -]", value)[0] in NUMBER_WORDS:
            yield Found(*match.span(group), "AGE", 0.8, "context")
    for index, word in enumerate(tokens.words):
        kind = UNITS.get(word) or ("MONEY" if _currency(word) else None)
        if kind:
            yield from (_led(text, found) for found in _counted(tokens, index, kind))


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
    end = tokens.ends[index]
    code = _CURRENCY_CODE.match(tokens.text, end) if kind == "MONEY" else None
    if code:
        end = code.end()
    later = _RELATIVE.match(tokens.text, end) if kind == "DURATION" else None
    if later:
        yield Found(tokens.starts[first], later.end(), "DATE", 0.95, "relative")
    old = tokens.text[end : end + 4] in {" old", "-old"}
    if old and tokens.words[index] in _AGE_WORDS:
        yield Found(tokens.starts[first], end + 4, "AGE", 1.0, "unit")
        return
    yield Found(tokens.starts[first], end, kind, 0.9, "unit")


def _number_before(tokens: Tokens, index: int) -> int | None:
    """Return the first token of the number that ends before the token."""
    first = None
    place = index
    while place > 0 and index - place < 8:
        if tokens.gap(place) not in (" ", "-", "", " ("):
            break
        word = tokens.words[place - 1]
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
