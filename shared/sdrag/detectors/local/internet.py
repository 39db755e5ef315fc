"""
Addresses on networks, found by their marks, and the names of people inside them.

What is shaped like an IPv6 address is one only if it can be parsed, so that times and
names with colons are left alone. A name inside an address, a handle, a path or a slug
is a given name and a surname, one of them no everyday word, joined by a mark.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from itertools import pairwise

from sdrag.detectors.local.tables import (
    first_names,
    is_common,
    surnames,
    word_set,
)
from sdrag.detectors.local.tokens import Candidate, matches

_MAIL_HOST = re.compile(r"@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_LONGEST_LOCAL = 64
_HANDLE = re.compile(r"(?<![\w@/.])@([A-Za-z_][\w.]{1,38}\w)")
_SCHEME = re.compile(
    r"(?:https?|ftp|ssh|s3|postgres(?:ql)?|mysql|mongodb|redis)(?:\+\w{1,10})?$"
)
_LINK = re.compile(r"://[^\s<>\"')\]]{3,2000}|www\.[^\s<>\"')\]]{3,500}")
_LABEL = re.compile(r"[a-zA-Z0-9-]{1,63}(?:\.[a-zA-Z0-9-]{1,63}){1,5}")
_DOTTED = re.compile(r"\.[a-zA-Z]{2,12}(?![@\w-])")
_TOP_LEVELS = word_set("top_level_domains")


def find_mails(text: str) -> Iterator[Candidate]:
    """Yield mail addresses and handles."""
    if "@" not in text:
        return
    for match in _MAIL_HOST.finditer(text):
        start = at = match.start()
        while start and at - start < _LONGEST_LOCAL and _mailable(text[start - 1]):
            start -= 1
        while start < at and text[start] == "'":
            start += 1
        if start < at:
            yield _trim_punctuation(text, start, match.end(), "EMAIL_ADDRESS", 1.0)
    for match in _HANDLE.finditer(text):
        yield Candidate(*match.span(1), "USERNAME", 0.9, "handle")


def find_links(text: str) -> Iterator[Candidate]:
    """Yield links."""
    if "://" not in text and "www." not in text:
        return
    for match in _LINK.finditer(text):
        scheme = _SCHEME.search(text, max(0, match.start() - 24), match.start())
        if scheme or text[match.start()] == "w":
            start = scheme.start() if scheme else match.start()
            yield _trim_punctuation(text, start, match.end(), "URL", 1.0)


def find_domains(text: str) -> Iterator[Candidate]:
    """Yield domain names."""
    done = 0
    for dot in _DOTTED.finditer(text):
        if dot.start() < done or dot.group()[1:] not in _TOP_LEVELS:
            continue
        start = _labels_start(text, dot.start(), max(done, dot.start() - 256))
        labels = _LABEL.match(text, start)
        if labels and labels.end() >= dot.end():
            done = dot.end()
            yield _trim_punctuation(text, start, dot.end(), "DOMAIN_NAME", 0.8)


def _mailable(character: str) -> bool:
    return character.isalnum() or character in "_.+%-'!#$&*^~{}|"


def _labels_start(text: str, position: int, least: int) -> int:
    """Return where the labels begin that lead to the dot."""
    while position > least and (
        text[position - 1].isalnum() or text[position - 1] in ".-"
    ):
        position -= 1
    while text[position] in ".-":
        position += 1
    return position


def _trim_punctuation(
    text: str, start: int, end: int, type_: str, confidence: float
) -> Candidate:
    while text[end - 1] in ".,;:!?":
        end -= 1
    return Candidate(start, end, type_, confidence, "pattern")


_JOINED = re.compile(
    r"(?<![\w.%'-])[^\W\d_]{2,40}(?:(?:[._-]|%20)[^\W\d_]{1,40}){1,3}"
    r"(?![\w'])"
)
_RUN_TOGETHER = re.compile(
    r"(?<=[@/\\])[A-Za-z]{6,30}(?![A-Za-z])|(?<![\w.%@+-])[A-Za-z]{6,30}(?=@|_\w)"
)
_PART = 3
_DISPLAYED = re.compile(r"([^\W\d_]+(?: [^\W\d_]+\.?){0,3})\"? ?$")
_DISPLAY = 60
_HUMP = re.compile(r"[A-Z][a-z]+")


def find_embedded_names(text: str) -> Iterator[Candidate]:
    """Yield names that are joined: lucia.ferrante@example.org, /srv/lucia-ferrante."""
    for match in _JOINED.finditer(text):
        words = [word.capitalize() for word in _MARKS.split(match.group())]
        if any(_is_name(*pair) for pair in pairwise(words)):
            yield Candidate(*match.span(), "PERSON", 0.7, "inside")
    if "@" in text or "/" in text or "\\" in text or "_" in text:
        for match in _RUN_TOGETHER.finditer(text):
            if _is_run_together(match.group()):
                yield Candidate(*match.span(), "PERSON", 0.7, "inside")
    if "@" in text:
        yield from _find_displayed(text)


_MARKS = re.compile("[._-]|%20")


def _is_run_together(word: str) -> bool:
    """Return True for a given name and a surname in one: robertmeyers."""
    if is_common(word):
        return False
    humps = _HUMP.findall(word)
    if len(humps) == 2 and "".join(humps) == word:
        return _is_name(*humps)
    word = word.lower()
    return any(
        _is_name(word[:cut].capitalize(), word[cut:].capitalize())
        for cut in range(_PART, len(word) - _PART + 1)
    )


def _find_displayed(text: str) -> Iterator[Candidate]:
    """Yield names in front of an address in brackets: rose young <ry@example.org>."""
    for mail in _BRACKETED.finditer(text):
        start = max(0, mail.start() - _DISPLAY)
        shown = _DISPLAYED.search(text[start : mail.start()])
        if shown is None:
            continue
        words = [word.strip(".").capitalize() for word in shown[1].split()]
        named = first_names() | surnames() if len(words) < 2 else frozenset()
        if any(_is_listed(*pair) for pair in pairwise(words)) or (
            shown[1][0].isupper() and words[0] in named
        ):
            first, last = shown.span(1)
            yield Candidate(start + first, start + last, "PERSON", 0.8, "displayed")


_BRACKETED = re.compile(r"<[^\s<>@]{1,64}@")


def _is_listed(word: str, other: str) -> bool:
    return (word in first_names() and other in surnames()) or (
        other in first_names() and word in surnames()
    )


def _is_name(word: str, other: str) -> bool:
    return not (is_common(word) and is_common(other)) and _is_listed(word, other)


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
