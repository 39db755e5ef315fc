"""
Numbers of bank accounts: the IBAN however it is written, and a bank's own code.

An IBAN is read by its country's length over single spaces and hyphens, in any case.
With its check digits (ISO 13616) it is certain; without, the country and the length
still tell, since people mistype.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.anchors import cased, cued, matches
from sdrag.detectors.local.checks import iban_holds
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.words import Tokens

__all__ = ["bank_accounts"]

# The lengths of the SWIFT registry, by country.
_LENGTHS = {
    country: int(row[:2])
    for row in (
        "15NO 16BE 18DKFIFKFOGLNLSD 19MKSI 20ATBAEEKZLTLUMNXK 21CHHRLILV",
        "22BGBHCRDEGBGEIEMERSVA 23AEGIILIQOMSOTL 24ADCZESMDPKROSASESKTNVG",
        "25LYPTST 26ISTR 27BIDJFRGRITMCMRSM 28ALAZBYCYDOGTHULBNIPLSV",
        "29BREGPSQAUA 30JOKWMUYE 31MTSC 32LC 33RU",
    )
    for row in row.split()
    for country in re.findall("[A-Z]{2}", row[2:])
}
_START = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})[ -]?\d{2}(?=[ -]?[A-Za-z0-9])")
_CUED = re.compile(
    r"(?i:(?: (?:number|no|code))?(?: is| was)?[.:#]? ?)"
    r"([A-Za-z]{2}\d{2}(?:[ -]?[A-Z0-9]{1,4}(?![a-z])){2,8})(?!\w)"
)
_BANK = re.compile(
    r"(?:[ /-](?:[Cc]ode|BIC|SWIFT)){0,2}(?: is| was)?:? ?"
    r"([A-Z]{4} ?[A-Z]{2} ?[A-Z0-9]{2}(?: ?[A-Z0-9]{3})?)(?!\w)"
)
_SORT = re.compile(r"(?i:[ -]?code(?: is| was)?:? ?)(\d\d[ -]?\d\d[ -]?\d\d)(?!\w)")
_CUES = {
    cased(("iban",)): (_CUED, "IBAN_CODE"),
    cased(("swift", "bic")): (_BANK, "CODE"),
    cased(("sort", "sortcode")): (_SORT, "CODE"),
}
# Without check digits only the usual groups are taken.
_FOURS = re.compile(
    r"[A-Z]{2}\d{2}(?:[A-Z\d]{8,30}|(?:[ -][A-Z\d]{4}){2,7}(?:[ -][A-Z\d]{1,3})?)"
    r"|[a-z]{2}\d{2}(?:[a-z\d]{8,30}|(?:[ -](?=[A-Za-z]{0,3}\d)[A-Za-z\d]{4}){2,7}"
    r"(?:[ -][A-Za-z\d]{1,3})?)"
)


def bank_accounts(tokens: Tokens, places: list[int]) -> Iterator[Found]:
    """Yield IBANs, bank codes and sort codes."""
    text = tokens.text
    for match in matches(_START, text, places):
        end = _end(text, match.start(), _LENGTHS.get(match[1].upper(), 0))
        if end is None:
            continue
        value = text[match.start() : end].replace(" ", "").replace("-", "")
        if iban_holds(value):
            yield Found(match.start(), end, "IBAN_CODE", 1.0, "check-digits")
        elif _FOURS.fullmatch(text, match.start(), end):
            yield Found(match.start(), end, "IBAN_CODE", 0.85, "length")
    for words, (pattern, type_) in _CUES.items():
        for match in cued(pattern, tokens, words):
            yield Found(*match.span(1), type_, 0.96, "cue")


def _end(text: str, start: int, length: int) -> int | None:
    """Return where so many letters and figures end, over single marks between them."""
    place = start
    while length and place < len(text):
        if text[place].isascii() and text[place].isalnum():
            length -= 1
        elif text[place] not in " -" or text[place - 1] in " -":
            return None
        place += 1
    if length or place == start or text[place : place + 1].isalnum():
        return None
    return place
