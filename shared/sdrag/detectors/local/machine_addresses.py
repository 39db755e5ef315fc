"""
Addresses of machines: MAC addresses, IPv4 and IPv6 in their short and long forms.

A MAC address is a `CODE`, as every identifier without a type of its own. What is shaped
like an IPv6 address is one only if it can be parsed, so that times and names with
colons are left alone.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from sdrag.detectors.local.anchors import cased, cued, matches
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.words import Tokens

__all__ = ["network"]

_HEX = "[0-9A-Fa-f]"
_MAC = re.compile(
    rf"(?<![\w:.-]){_HEX}{{1,2}}(?:(?::{_HEX}{{1,2}}){{5}}|(?:-{_HEX}{{1,2}}){{5}})"
    rf"(?![\w:-])"
    rf"|(?<![\w:.-]){_HEX}{{4}}(?:(?:\.{_HEX}{{4}}){{2}}|(?:-{_HEX}{{4}}){{2}}"
    rf"|(?::{_HEX}{{4}}){{2}})(?![\w:-]|\.\w)"
    rf"|(?<![\w:.-]){_HEX}{{2}}(?: {_HEX}{{2}}){{5}}(?! ?{_HEX}{{2}}\b)(?!\w)"
)
_BARE_MAC = re.compile(
    rf"(?i:(?: address)?(?: is| was|[:=#])? ?)"
    rf"({_HEX}{{12}}|{_HEX}{{6}}[:-]{_HEX}{{6}})\b"
)
_IPV4 = re.compile(
    r"(?<![\w.])(?:\d{1,3}\.){3}(?:\d{1,3}|[*x])"
    r"(?:/(?:\d{1,3}\.){3}\d{1,3}|/\d{1,2}|:\d{1,5})?(?!\w|\.\d)"
)
_IPV6 = re.compile(
    rf"(?<![\w:.])(?:{_HEX}{{1,4}})?(?::{_HEX}{{0,4}}){{2,8}}(?:(?:\.\d{{1,3}}){{3}})?"
    rf"(?:%[A-Za-z0-9]{{1,16}})?(?:/\d{{1,3}})?(?!\w)"
)
_MAC_WORDS = cased(("mac", "hardware", "physical", "ethernet"))
# Two marks of one kind with figures between them.
_MARKS = (
    re.compile(rf":{_HEX}{{0,4}}:"),
    re.compile(rf"-{_HEX}{{1,4}}-{_HEX}"),
    re.compile(rf"\.{_HEX}{{4}}\.{_HEX}"),
)
_FIGURES = frozenset("0123456789abcdefABCDEF")
_GROUP = 4
_CUE = re.compile(r"(?i)\b(?:ip|ipv6|address|host|listen\w*|bind|bound|on|to)\b.{0,6}$")
_ZEROS = re.compile(r"(?<=[.:])0+(?=\d{1,2}(?:\.|$))")
_HIGHEST = 255


def network(tokens: Tokens, places: list[int]) -> Iterator[Found]:
    """Yield MAC and IP addresses."""
    text = tokens.text
    marked = _marked(text)
    for match in matches(_MAC, text, sorted({*marked, *places})):
        # Six pairs of figures may also be a number with hyphens.
        plain = not re.search("[A-Fa-f:]", match.group())
        if not (plain and re.search("[ .]", match.group())):
            yield Found(*match.span(), "CODE", 0.5 if plain else 1.0, "mac")
    for match in cued(_BARE_MAC, tokens, _MAC_WORDS):
        yield Found(*match.span(1), "CODE", 0.95, "mac")
    for match in matches(_IPV4, text, places):
        octets = re.findall(r"\d+", match.group().partition(":")[0].partition("/")[0])
        if all(int(octet) <= _HIGHEST for octet in octets):
            yield Found(*match.span(), "IP_ADDRESS", 0.95, "address")
    yield from _version_six(text, marked)


def _marked(text: str) -> list[int]:
    """Return where what has colons, hyphens or points between its figures begins."""
    places: set[int] = set()
    for mark in _MARKS:
        for match in mark.finditer(text):
            place = match.start()
            while (
                place and match.start() - place < _GROUP and text[place - 1] in _FIGURES
            ):
                place -= 1
            places.add(place)
    return sorted(places)


def _version_six(text: str, places: list[int]) -> Iterator[Found]:
    """Yield IPv6 addresses, with their zone and the length of their network."""
    for match in matches(_IPV6, text, places):
        start, end = match.span()
        value = match.group()
        if value.endswith(":") and not value.endswith("::"):
            value, end = value[:-1], end - 1
        if not _parses(value):
            continue
        # Names in programs have colons too: a::b.
        told = any(c.isdigit() for c in value) or _CUE.search(
            text, max(0, start - 24), start
        )
        yield Found(start, end, "IP_ADDRESS", 1.0 if told else 0.4, "address")


def _parses(value: str) -> bool:
    try:
        ipaddress.IPv6Address(_ZEROS.sub("", value.partition("/")[0]))
    except ValueError:
        return False
    return True
