"""
Cards, telephone numbers, and codes that no pattern of the table tells.

Everything with a digit is taken as the run of characters around it and classified as a
whole. Nothing is turned down because its check digit is wrong, since people mistype.
For the same reason no library of telephone numbers is asked: it finds only valid ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.internet import is_network_address
from sdrag.detectors.local.tables import ACRONYMS, in_each_case, word_set
from sdrag.detectors.local.tokens import Candidate, TokenIndex

_CARD = re.compile(
    r"(?<![\w.])\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w])"
    r"|(?<![\w.])3\d{3}[ -]?\d{6}[ -]?\d{5}(?!\w)"
)
_SEVERAL = re.compile(r"\d(?:[ ().-]{0,3}\d){6}")
_PHONE = re.compile(
    r"(?<![\w.,/:$\u20ac\u00a3-])(?:\+|\(\+?|00)?\d(?:[ ().-]{0,2}\d){6,14}"
    r"(?:,?\s?(?i:x|ext\.?|extension)\s?\d{1,6})?(?![\w])"
)
_TRIM = "#.:@-/,"
_AROUND = frozenset("#/.:@+-_")
_CHUNK = re.compile(r"[\w#/.:@+-]{1,200}")


def find_long_numbers(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield cards and telephones; the same digits may be found as both."""
    spoken = 0
    for index in tokens.numbers:
        position = tokens.starts[index]
        if position >= spoken and _SEVERAL.match(tokens.text, position):
            for candidate in _long(tokens.text, position):
                spoken = max(spoken, candidate.end)
                yield candidate


def find_codes(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield codes: runs of characters with a digit that are no plain number."""
    done = 0
    for index in tokens.numbers:
        position = tokens.starts[index]
        if position >= done:
            done, code = _chunk(tokens.text, position, done)
            if code:
                yield code


def _long(text: str, position: int) -> Iterator[Candidate]:
    """Yield what has many digits: cards, telephones."""
    card = _CARD.match(text, position)
    if card:
        yield Candidate(*card.span(), "CREDIT_CARD", 0.9, "digits")
    start = position
    while start and position - start < 2 and text[start - 1] in "+(":
        start -= 1
    phone = _PHONE.match(text, start)
    if phone and phone.group()[0] == "(" and ")" not in phone.group():
        phone = _PHONE.match(text, start + 1)  # the bracket is the sentence's
    if phone and not _DATED.fullmatch(phone.group()):
        value = phone.group()
        marked = value[0] in "+(0" or any(c in value for c in " -.(x")
        least = 0.8 if marked else 0.5
        yield Candidate(*phone.span(), "PHONE_NUMBER", least, "digits")


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
    r"|\d+(?:[.,]\d+)?[a-z]{1,5}|\d{4}-\d{2,4}|\d{1,3}-\d{1,3}|\d+/\d|\d{3}/\d{2,3}"
    r"|(?:0[1-9]|[12]\d|3[01])/(?:0[1-9]|1[0-2])"
    r"|\d{4}-\d{2}-\d{2}(?:T[\d:.+Z-]+)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}"
    r"|\d+(?:-[a-z]{1,20}){1,4}|[a-z]{1,20}-\d{1,2}|\d{1,3}-[A-Z][a-z]+"
)
_VERSION = re.compile(r"v?\d{1,2}(?:\.\d{1,2}){2,3}\+?")
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
    uuid = _UUID.search(value)
    if uuid and uuid.end() == len(value):  # behind its label: id:0b1e6c2a-...
        start, value = start + uuid.start(), uuid.group()
    code = _code(value)
    return chunk.end(), Candidate(start, start + len(value), *code) if code else None


def _code(value: str) -> tuple[str, float, str] | None:
    """Return type, confidence and reason of a run of characters with a digit."""
    if value.isdecimal() or _PLAIN_NUMBER.fullmatch(value):
        long = len(value) >= 6 and value.isdecimal()
        return ("CODE", 0.5, "long-number") if long else None
    if value.upper() in ACRONYMS or _VERSION.fullmatch(value):
        return None
    if _SSN.fullmatch(value):
        return "US_SSN", 0.9, "pattern"
    if is_network_address(value):
        return "IP_ADDRESS", 1.0, "address"
    if _UUID.fullmatch(value) or _MAC.fullmatch(value):
        return "CODE", 1.0, "pattern"
    return "CODE", 0.7, "mixed"


_CUES = in_each_case(word_set("number_cues"))
_CUE = re.compile(
    r"(?: (?:number|no|code|was|is|of|are))?[.:#,]? ?#?(?=[A-Z]{0,3}[-/]?\d)"
)
_VALUE = re.compile(r"[\w][\w./:-]{0,40}")
_JOIN = re.compile(r"(?:, and | and |, |/| or )(?=\d)")
_LEGAL = re.compile(
    r"\b(?:Protocol|Laws?|Articles?|Acts?|Rules?|Decree|Regulation|Section|Directive|Recital"
    r"|Paragraph|Order|Resolution) (?:\()?$"
)
_ZIP_CUE = re.compile(r"(?i:zip|postcode)|(?<=ostal )code")


def find_numbered(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield numbers identified by the word before them."""
    text = tokens.text
    for index in tokens.indices(_CUES):
        start = tokens.starts[index]
        cue = _CUE.match(text, tokens.ends[index])
        if cue is None or _LEGAL.search(text, max(0, start - 16), start):
            continue
        type_ = "ZIP_CODE" if _ZIP_CUE.match(text, start) else "CODE"
        position: int | None = cue.end()
        while position is not None:
            value = _VALUE.match(text, position)
            if value is None:
                break
            end = value.start() + len(value.group().rstrip(".:-/"))
            yield Candidate(value.start(), end, type_, 0.9, "cue")
            join = _JOIN.match(text, end)
            position = join.end() if join else None
