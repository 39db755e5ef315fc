"""
Numbers with what they count: money, doses, durations, ages, quantities.

Found from the unit backwards. The unit is looked up, the number before it is read token
by token, in digits or in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import CURRENCIES, NUMBER_WORDS, UNITS
from sdrag.detectors.local.tokens import Tokens

__all__ = ["measures"]

_NUMERAL = r"\d{1,3}(?:[,. ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?"
_MONEY = re.compile(
    rf"(?:(?:US|AU|NZ|CA)?[$\u20ac\u00a3\u00a5\u20b9]|\bRs\.?|\b(?:EUR|USD|GBP|CHF|SEK|NOK"
    rf"|DKK|PLN|TRL|TRY|YTL|DEM|ATS|FRF|ITL|JPY|CNY|INR|AUD|CAD|NZD|CYP|RUB|UAH|HUF|CZK))"
    rf" ?(?:{_NUMERAL})(?: ?(?:million|billion|thousand|bn|m|k|M|K)\b)?"
)
_PERCENT = re.compile(rf"(?:{_NUMERAL}) ?(?:%|per cent\b|percent\b)")
_GLUED = re.compile(r"\b\d+(?:[.,]\d+)?(mg|mcg|ml|g|kg|km|cm|mm|m|kW|GB|MB|lb|lbs)\b")
_AGE = re.compile(
    r"\b(?:aged?|age of|age:) ?(\d{1,3}|[a-z]+(?:-[a-z]+)?)\b"
    r"|\b(?:is|was|am|turned|turning|I'm|she's|he's) (\d{1,2})(?=[.,;!?]| and\b|$)"
    r"|(?<=, )(\d{2})(?=, |\)| \()"
)
_AGE_WORDS = frozenset("year years month months week weeks day days".split())
_JOINS = frozenset(("and", "a", "of", "to", "or", "point"))
_VAGUE = frozenset("a an few several some many".split())
_LEAD = frozenset(("about", "almost", "nearly", "over", "approximately", "around"))


def measures(tokens: Tokens) -> Iterator[Found]:
    """Yield amounts."""
    text = tokens.text
    for match in _MONEY.finditer(text):
        yield Found(*match.span(), "MONEY", 1.0, "currency")
    for match in _PERCENT.finditer(text):
        yield Found(*match.span(), "QUANTITY", 0.8, "percent")
    for match in _GLUED.finditer(text):
        yield Found(
            *match.span(),
            UNITS[match.group(1)] if match.group(1) in UNITS else "QUANTITY",
            0.9,
            "unit",
        )
    for match in _AGE.finditer(text):
        group = match.lastindex or 1
        value = match.group(group)
        if value.isdigit() or value.split("-")[0] in NUMBER_WORDS:
            yield Found(*match.span(group), "AGE", 0.8, "context")
    for index, word in enumerate(tokens.words):
        kind = UNITS.get(word) or ("MONEY" if word in CURRENCIES else None)
        if kind:
            yield from _counted(tokens, index, kind)


def _counted(tokens: Tokens, index: int, kind: str) -> Iterator[Found]:
    first = _number_before(tokens, index)
    if first is None:
        return
    end = tokens.ends[index]
    if kind == "DURATION" and tokens.words[index] in _AGE_WORDS:
        after = tokens.text[end : end + 5]
        if after in (" old,", " old.", "-old ", "-old,", "-old.") or after[:4] in (
            " old",
            "-old",
        ):
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
        elif word not in _JOINS or first is None:
            break
        place -= 1
    return first
