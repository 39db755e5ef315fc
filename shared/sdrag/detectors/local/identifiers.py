"""
Cards, telephone numbers, coordinates and codes.

Everything with a digit is taken as the run of characters around it and classified as a
whole. Check digits raise the confidence. Nothing is turned down because its check digit
is wrong, since people mistype. For the same reason no library of telephone numbers is
asked: it would find only valid ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.check_digits import (
    iban_holds,
    is_network_address,
    luhn_holds,
)
from sdrag.detectors.local.lexicon import ACRONYMS, UNITS, cased
from sdrag.detectors.local.tables import word_set
from sdrag.detectors.local.tokens import Candidate, Tokens, cued

__all__ = ["identifiers", "phones"]


_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_CARD = re.compile(
    r"(?<![\w.])\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w])"
    r"|(?<![\w.])3\d{3}[ -]?\d{6}[ -]?\d{5}(?!\w)"
)
# Any grouping, where the check digit holds.
_GROUPED_CARD = re.compile(r"(?<![\w.])\d(?:[ -]?\d){15,18}(?!\w)")
_COORDINATES = re.compile(
    r"(?<![\w.])-?\d{1,3}\.\d{3,8}(?:\s?[NS])?,\s?-?\d{1,3}\.\d{3,8}(?:\s?[EW])?"
    r"|\d{1,3}[\u00b0-]\s?\d{1,2}(?:\.\d{1,4})?['\u2032]?(?:\s?\d{1,2}(?:\.\d{1,3})?"
    r"[\"\u2033])?\s?[NSEW]\b"
)
_DEGREES = r"-?\d{1,3}(?:\.\d{1,8}\u00b0?|\u00b0)"
_PLACED = re.compile(
    rf"(?<![\w.-]){_DEGREES}\s?[NS],?\s{{1,2}}{_DEGREES}\s?[EW]\b"
    rf"|\b[NS]\s?{_DEGREES},?\s{{1,2}}[EW]\s?{_DEGREES}(?!\w)"
    rf"|(?:(?<=\b[Ll]at[ :=])|(?<=\b[Ll]on[ :=])|(?<=\b[Ll]ng[ :=])|(?<=itude[ :=]))"
    rf"\s?{_DEGREES}(?!\w)"
)
"""Degrees with their directions; what is shorter may be a size or a room."""
_SEVERAL = re.compile(r"\d(?:[ ().-]{0,3}\d){6}")
_PHONE = re.compile(
    r"(?<![\w.,/:$\u20ac\u00a3-])(?:\+|\(\+?|00)?\d(?:[ ().-]{0,2}\d){6,14}"
    r"(?:,?\s?(?i:x|ext\.?|extension)\s?\d{1,6})?(?![\w])"
)
_TRIM = "#.:@-/,"
_AROUND = frozenset("#/.:@+-_")
_CHUNK = re.compile(r"[\w#/.:@+-]{1,200}")


def identifiers(tokens: Tokens) -> Iterator[Candidate]:
    """Yield identifiers; the same characters may be found as several types."""
    text = tokens.text
    spoken = done = 0
    for match in _PLACED.finditer(text):
        yield Candidate(*match.span(), "COORDINATES", 1.0, "pattern")
    for index in tokens.numbers:
        position = tokens.starts[index]
        if text[position - 2 : position].isupper():
            yield from _iban(text, position - 2)
        if position >= spoken and _SEVERAL.match(text, position):
            for found in _long(text, position):
                spoken = max(spoken, found.end)
                yield found
        yield from _placed(text, position)
        if position >= done:
            done, code = _chunk(text, position, done)
            if code:
                yield code


def _long(text: str, position: int) -> Iterator[Candidate]:
    """Yield what has many digits: cards, telephones."""
    card = _CARD.match(text, position)
    if card:
        sure = luhn_holds(card.group())
        yield Candidate(*card.span(), "CREDIT_CARD", 1.0 if sure else 0.85, "digits")
    else:
        card = _GROUPED_CARD.match(text, position)
        if card and luhn_holds(card.group()):
            yield Candidate(*card.span(), "CREDIT_CARD", 0.9, "check-digits")
    start = position
    while start and position - start < 2 and text[start - 1] in "+(":
        start -= 1
    phone = _PHONE.match(text, start)
    if phone and phone.group()[0] == "(" and is_network_address(phone.group()[1:]):
        # The bracket is the sentence's: what is in it is a machine's address.
        phone = _PHONE.match(text, start + 1)
    if phone and not _DATED.fullmatch(phone.group()):
        value = phone.group()
        marked = value[0] in "+(0" or any(c in value for c in " -.(x")
        if marked or not _counted(text, *phone.span()):
            least = 0.8 if marked else 0.5
            yield Candidate(*phone.span(), "PHONE_NUMBER", least, "digits")


_COUNTED = word_set("counted_things")
_KEY = re.compile(
    r"(?:[^\W\d_]|_(?=[^\W_])){1,40}(?=(?: (?i:at|is|was|no|nr|number))?"
    r"[\"']?\)?\.?[ \t]{0,2}[:=#]{0,2}[ \t]{0,2}[\"']?$)"
)
_KEY_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
_UNIT = re.compile(r" ?([a-zA-Z]{1,12})\b")
_REACH = 48


def _counted(text: str, start: int, end: int) -> bool:
    """Say whether the word in front or the unit behind tells that it is no phone."""
    unit = _UNIT.match(text, end)
    if unit and (unit[1] in UNITS or unit[1] in _COUNTED):
        return True
    key = _KEY.search(text, max(0, start - _REACH), start)
    words = _KEY_WORD.findall(key.group()) if key else []
    return any(word.lower() in _COUNTED for word in words[-2:])


def _iban(text: str, position: int) -> Iterator[Candidate]:
    match = _IBAN.match(text, position)
    if match and iban_holds(match.group()):
        yield Candidate(*match.span(), "IBAN_CODE", 1.0, "check-digits")


def _placed(text: str, position: int) -> Iterator[Candidate]:
    """Yield coordinates, with their sign."""
    start = position - 1 if position and text[position - 1] == "-" else position
    match = _COORDINATES.match(text, start) or _COORDINATES.match(text, position)
    if match:
        yield Candidate(*match.span(), "COORDINATES", 1.0, "pattern")


_DATED = re.compile(
    r"\d{4}[-.]\d{1,2}[-.]\d{1,2}|\d{1,2}[-.]\d{1,2}[-.]\d{4}|\d{4}-\d{2}-\d{2} \d{1,2}"
    r"|\d{4}\s?-\s?\d{4}|\d{1,3}(?:[ .]000)+|(?!0\d)\d+\.\d+|(?:\d[ -]?){16,}"
    r"|(?:\d{1,3}\.){3}\d{1,3}(?: .*)?"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MAC = re.compile(r"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}")
_PLAIN_NUMBER = re.compile(
    r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:[.,]\d+)?"
    r"|\d{1,2}(?:st|nd|rd|th|s)|\d{1,4}(?:st|nd|rd|th)|\d{4}s"
    r"|\d{1,2}[:.]\d{2}(?::\d{2})?(?:[ap]m|h|hrs)?|\d{1,2}(?:[ap]m|h)"
    r"|\d+(?:[.,]\d+)?[a-z]{1,5}|\d{4}-\d{2,4}|\d{1,3}-\d{1,3}|\d+/\d"
    r"|\d{4}-\d{2}-\d{2}(?:T[\d:.+Z-]+)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}"
    r"|\d+(?:-[a-z]{1,20}){1,4}|[a-z]{1,20}-\d{1,2}|\d{1,3}-[A-Z][a-z]+"
)
_VERSION = re.compile(r"v?\d{1,2}(?:\.\d{1,2}){2,3}\+?")
_FILE = re.compile(
    r"(?:[a-z]{2,}+[-_./+]++)(?:(?:[A-Za-z]?[a-z]+\d?|\d{1,4})[-_./+]++)*+[a-z]{2,4}\d?"
    r"|(?P<scheme>[a-z]{1,7}\d?://)(?:(?:[A-Za-z]?[a-z]+|\d{1,4})[-_./#+]*+)++"
)
_FIGURES = re.compile(r"\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_PRESSURE = re.compile(
    r"\b(?i:n?i?bp|pressure|pressures)(?: (?:is|was|of|at))?[:= ]{1,3}$"
)
_READING = re.compile(r"\d{2,3}/\d{2,3}")
_SSN = re.compile(r"\d{3}-\d{2}-\d{4}")


def _chunk(text: str, position: int, done: int) -> tuple[int, Candidate | None]:
    """Return where the characters around a number end, and what they are."""
    left = position
    least = max(done, position - 60)
    while left > least and (text[left - 1] in _AROUND or text[left - 1].isalnum()):
        left -= 1
    chunk = _CHUNK.match(text, left)
    if chunk is None:
        return position + 1, None
    value = chunk.group().rstrip(_TRIM)
    start = left + len(value) - len(value.lstrip(_TRIM))
    value = value.lstrip(_TRIM)
    if _READING.fullmatch(value) and _PRESSURE.search(text, max(0, start - 20), start):
        return chunk.end(), None
    code = _code(value)
    return chunk.end(), Candidate(start, start + len(value), *code) if code else None


def _code(value: str) -> tuple[str, float, str] | None:
    """Return type, confidence and reason of a run of characters with a digit."""
    if value.isdecimal() or _PLAIN_NUMBER.fullmatch(value):
        long = len(value) >= 6 and value.isdecimal()
        return ("CODE", 0.5, "long-number") if long else None
    if value.upper() in ACRONYMS or _VERSION.fullmatch(value) or _is_file(value):
        return None
    if _SSN.fullmatch(value):
        return "US_SSN", 0.9, "pattern"
    if is_network_address(value):
        return "IP_ADDRESS", 1.0, "address"
    if _UUID.fullmatch(value) or _MAC.fullmatch(value):
        return "CODE", 1.0, "pattern"
    return "CODE", 0.7, "mixed"


def _is_file(value: str) -> bool:
    """Say whether it is a file or a URL of plain words, with a page or a year."""
    match = _FILE.fullmatch(value)
    if match is None:
        return False
    figures = _FIGURES.findall(value, len(match["scheme"] or ""))
    small = [figure for figure in figures if not _YEAR.fullmatch(figure)]
    return len(small) <= 2 and all(int(figure) < 100 for figure in small)


_PHONE_CUES = cased(word_set("phone_cues"))
_CUED_PHONE = re.compile(
    r"(?: (?i:numbers?|no|nr|me|us|him|her|at|on|is)){0,4}[.:]{0,2} ?"
    r"(?P<value>\(?\+?\(?\d(?:[ ()./-]{0,3}\d){5,14}"
    r"(?:,? ?(?i:x|ext\.?|extension) ?\d{1,6})?)(?![\w/]|[.,]\d)"
)
_DATE_LIKE = re.compile(
    r"(?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2}).*", re.DOTALL
)
_WORDED = re.compile(
    r"(?<![\w.-])\+?1?[ .-]?\(?8(?:00|33|44|55|66|77|88)\)?[ .-]"
    r"(?:\d{1,3}[ -])?[A-Z]{3,9}(?:-(?:[A-Z]{2,5}|\d{1,4}))?(?!\w)"
)
_FREE_CALL = ("800", "833", "844", "855", "866", "877", "888")


def phones(tokens: Tokens) -> Iterator[Candidate]:
    """Yield telephone numbers."""
    for match in cued(_CUED_PHONE, tokens, _PHONE_CUES):
        if not _DATE_LIKE.fullmatch(match["value"]):
            yield Candidate(*match.span("value"), "PHONE_NUMBER", 0.85, "cue")
    for index in tokens.indices(_FREE_CALL):
        start = max(0, tokens.starts[index] - 4)
        worded = _WORDED.search(tokens.text, start, tokens.ends[index] + 24)
        if worded:
            yield Candidate(*worded.span(), "PHONE_NUMBER", 0.85, "worded")
