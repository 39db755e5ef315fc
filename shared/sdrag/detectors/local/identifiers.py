"""
Cards, telephone numbers, IPv6 addresses, and codes that no pattern of the table tells.

Everything with a digit is taken as the run of characters around it and classified as a
whole. Nothing is turned down because its check digit is wrong, since people mistype.
For the same reason no library of telephone numbers is asked: it finds only valid ones.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from sdrag.detectors.local.tables import ACRONYMS, UNITS, cased, word_set
from sdrag.detectors.local.tokens import Candidate, Tokens, matches

_CARD = re.compile(
    r"(?<![\w.])\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w])"
    r"|(?<![\w.])3\d{3}[ -]?\d{6}[ -]?\d{5}(?!\w)"
)
# Any grouping, where the check digit holds.
_GROUPED_CARD = re.compile(r"(?<![\w.])\d(?:[ -]?\d){15,18}(?!\w)")
_SEVERAL = re.compile(r"\d(?:[ ().-]{0,3}\d){6}")
_PHONE = re.compile(
    r"(?<![\w.,/:$\u20ac\u00a3-])(?:\+|\(\+?|00)?\d(?:[ ().-]{0,2}\d){6,14}"
    r"(?:,?\s?(?i:x|ext\.?|extension)\s?\d{1,6})?(?![\w])"
)
_TRIM = "#.:@-/,"
_AROUND = frozenset("#/.:@+-_")
_CHUNK = re.compile(r"[\w#/.:@+-]{1,200}")


def find_identifiers(tokens: Tokens) -> Iterator[Candidate]:
    """Yield identifiers; the same characters may be found as several types."""
    text = tokens.text
    spoken = done = 0
    for index in tokens.numbers:
        position = tokens.starts[index]
        if position >= spoken and _SEVERAL.match(text, position):
            for candidate in _long(text, position):
                spoken = max(spoken, candidate.end)
                yield candidate
        if position >= done:
            done, code = _chunk(text, position, done)
            if code:
                yield code


def _long(text: str, position: int) -> Iterator[Candidate]:
    """Yield what has many digits: cards, telephones."""
    card = _CARD.match(text, position)
    if card is None:
        card = _GROUPED_CARD.match(text, position)
        card = card if card and _luhn_holds(card.group()) else None
    if card:
        yield Candidate(*card.span(), "CREDIT_CARD", 0.9, "digits")
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


def _luhn_holds(number: str) -> bool:
    """Return True if the last digit is right (ISO/IEC 7812-1)."""
    digits = [int(digit) for digit in reversed(number) if digit.isdecimal()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


_COUNTED = word_set("counted_things")
_KEY = re.compile(
    r"(?:[^\W\d_]|_(?=[^\W_])){1,40}(?=(?: (?i:at|is|was|no|nr|number))?"
    r"[\"']?\)?\.?[ \t]{0,2}[:=#]{0,2}[ \t]{0,2}[\"']?$)"
)
_KEY_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
_UNIT = re.compile(r" ?([a-zA-Z]{1,12})\b")
_REACH = 48


def _counted(text: str, start: int, end: int) -> bool:
    """Return True if the word in front or the unit behind tells that it is no phone."""
    unit = _UNIT.match(text, end)
    if unit and (unit[1] in UNITS or unit[1] in _COUNTED):
        return True
    key = _KEY.search(text, max(0, start - _REACH), start)
    words = _KEY_WORD.findall(key.group()) if key else []
    return any(word.lower() in _COUNTED for word in words[-2:])


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
    """Return True if it is a file or a URL of plain words, with a page or a year."""
    match = _FILE.fullmatch(value)
    if match is None:
        return False
    figures = _FIGURES.findall(value, len(match["scheme"] or ""))
    small = [figure for figure in figures if not _YEAR.fullmatch(figure)]
    return len(small) <= 2 and all(int(figure) < 100 for figure in small)


_HEX = "[0-9A-Fa-f]"
_IPV6 = re.compile(
    rf"(?<![\w:.])(?:{_HEX}{{1,4}})?(?::{_HEX}{{0,4}}){{2,8}}(?:(?:\.\d{{1,3}}){{3}})?"
    rf"(?:%[A-Za-z0-9]{{1,16}})?(?:/\d{{1,3}})?(?!\w)"
)
_ADDRESS_CUE = re.compile(
    r"(?i)\b(?:ip|ipv6|address|host|listen\w*|bind|bound|on|to)\b.{0,6}$"
)
_ZEROS = re.compile(r"(?<=[.:])0+(?=\d{1,2}(?:\.|$))")


def find_ipv6(text: str, anchors: list[int]) -> Iterator[Candidate]:
    """Yield IPv6 addresses, with their zone and the length of their network."""
    for match in matches(_IPV6, text, anchors):
        start, end = match.span()
        value = match.group()
        if value.endswith(":") and not value.endswith("::"):
            value, end = value[:-1], end - 1
        if not is_network_address(_ZEROS.sub("", value)):
            continue
        # Names in programs have colons too: a::b.
        cue = any(c.isdigit() for c in value) or _ADDRESS_CUE.search(
            text, max(0, start - 24), start
        )
        yield Candidate(start, end, "IP_ADDRESS", 1.0 if cue else 0.4, "address")


def is_network_address(value: str) -> bool:
    """Return True for an address of a machine or a network, with or without a port."""
    if "." not in value and value.count(":") < 2:
        return False
    bare = value.partition("/")[0]
    if "." in bare and ":" not in bare.partition(".")[0]:
        bare = bare.partition(":")[0]
    try:
        ipaddress.ip_address(bare)
    except ValueError:
        return False
    return True


_CUES = cased(word_set("number_cues"))
_CUE = re.compile(
    r"(?: (?:number|no|code|was|is|of|are))?[.:#,]? ?#?(?=[A-Z]{0,3}[-/]?\d)"
)
_VALUE = re.compile(r"[\w][\w./:-]{0,40}")
_DIGITED = re.compile(r"(?<![\w./:-])[A-Z]{0,4}\d[\w./:-]{3,40}")
_TELLING = 4
_JOIN = re.compile(r"(?:, and | and |, |/| or )(?=\d)")
_LEGAL = re.compile(
    r"\b(?:Protocol|Laws?|Articles?|Acts?|Rules?|Decree|Regulation|Section|Directive|Recital"
    r"|Paragraph|Order|Resolution) (?:\()?$"
)
_ZIP_CUE = re.compile(r"(?i:zip|postcode)|(?<=ostal )code")


def find_numbered(tokens: Tokens) -> Iterator[Candidate]:
    """Yield numbers identified by the word before them, and their look-alikes."""
    text = tokens.text
    cued = list(_cued(tokens))
    yield from cued
    shapes = {
        _shape(text[candidate.start : candidate.end])
        for candidate in cued
        if candidate.type == "CODE"
    }
    shapes = {shape for shape in shapes if shape.count("9") > _TELLING}
    if shapes:
        for match in _DIGITED.finditer(text):
            value = match.group().rstrip(".:-/")
            if _shape(value) in shapes:
                end = match.start() + len(value)
                yield Candidate(match.start(), end, "CODE", 0.9, "shape")


def _shape(value: str) -> str:
    return re.sub(r"\d", "9", value)


def _cued(tokens: Tokens) -> Iterator[Candidate]:
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
