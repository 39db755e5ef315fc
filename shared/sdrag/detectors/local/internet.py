"""
Addresses on networks, credentials and keys: found by their marks.

A MAC address is a `CODE`, as every identifier without a type of its own. What is shaped
like an IPv6 address is one only if it can be parsed, so that times and names with
colons are left alone.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from sdrag.detectors.local.lexicon import FUNCTION_WORDS, cased
from sdrag.detectors.local.tables import word_set
from sdrag.detectors.local.tokens import Candidate, Tokens, begun, cued, matches

__all__ = ["is_code", "links", "machine_addresses", "secrets"]


_MAIL_HOST = re.compile(r"@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_BARE_HOST = re.compile(
    r"@(?:(?i:localhost|localdomain|intranet|mailhost)(?![\w.-])|\[[\d.]{7,15}\])"
)
_QUOTED_LOCAL = re.compile(r"\"[^\"\n@]{1,64}\"$")
# Broken over lines: at the at sign, a point, a hyphen or an underscore.
_LEFT_OVER_LINES = re.compile(
    r"(?:(?P<first>(?<![\w.+%'-])[\w.+%-]{0,63}[._+-])[ \t]*\r?\n[ \t>]*)?"
    r"(?P<local>[\w.+%'-]{1,64})(?P<broken>[ \t]*\r?\n[ \t>]*)?$"
)
_BREAK = r"[ \t]*\r?\n[ \t>]*"
_RIGHT_OVER_LINES = re.compile(
    rf"@(?:{_BREAK})?[\w-]{{1,63}}(?:(?:-{_BREAK})[\w-]{{1,63}})?(?:(?:{_BREAK})?\.[\w-]{{1,63}}){{0,6}}"
    rf"(?:\.{_BREAK}(?P<top>[a-z]{{2,12}})(?![\w@-]))?"
)
_HANDLE = re.compile(r"(?<![\w@/.])@([A-Za-z_][\w.]{1,38}\w)")
_SCHEME = re.compile(
    r"(?:https?|ftp|ssh|s3|postgres(?:ql)?|mysql|mongodb|redis)(?:\+\w{1,10})?$"
)
_LINK = re.compile(r"://[^\s<>\"')\]]{3,2000}|www\.[^\s<>\"')\]]{3,500}")
_LABEL = re.compile(r"[a-zA-Z0-9-]{1,63}(?:\.[a-zA-Z0-9-]{1,63}){1,5}")
_DOTTED = re.compile(r"\.[a-zA-Z]{2,12}(?![@\w-])")
_TOP_LEVELS = word_set("top_level_domains")
_SECRET_CUES = re.compile(
    r"(?i:password|passphrase|passwd|pwd|passcode|pin|secret|token|key|code|credential"
    r"|login)s?"
)
_SECRET = re.compile(
    r"(?i:(?: is| was|:|=| for [\w' ]{1,40} (?:is|was))[ \t]*[\"']?"
    r"(?!(?:the|a|an|not|in|on|to|of|that|this|very|still|being|never|kept|also)\b))"
    r"([^\s\"',;]{3,200})"
)
_API = re.compile(r"\b(?:api|secret|access)[ _-]?$", re.IGNORECASE)
_KEY_PREFIXES = word_set("key_prefixes")
_KEY = re.compile(r"[a-z]+[-_][A-Za-z0-9_-]{16,200}\b")
_MARKED_KEYS = {
    "AKIA": re.compile(r"\bAKIA[A-Z0-9]{12,124}\b"),
    "ASIA": re.compile(r"\bASIA[A-Z0-9]{12,124}\b"),
    "AIza": re.compile(r"\bAIza[\w-]{16,200}\b"),
    "eyJ": re.compile(r"\beyJ[\w-]{8,2000}\.[\w-]{8,2000}\.[\w-]{8,2000}"),
    "-----BEGIN": re.compile(
        r"-----BEGIN [A-Z ]{3,40}-----[^-]{20,8000}-----END [A-Z ]{3,40}-----"
    ),
}


def links(text: str) -> Iterator[Candidate]:
    """Yield mail addresses, handles, links and domain names."""
    if "@" in text:
        yield from _mails(text)
    if "://" in text or "www." in text:
        for match in _LINK.finditer(text):
            scheme = _SCHEME.search(text, max(0, match.start() - 24), match.start())
            if scheme or text[match.start()] == "w":
                start = scheme.start() if scheme else match.start()
                yield _unpunctuated(text, start, match.end(), "URL", 1.0)
    done = 0
    for dot in _DOTTED.finditer(text):
        if dot.start() < done or dot.group()[1:] not in _TOP_LEVELS:
            continue
        start = _labels_start(text, dot.start(), max(done, dot.start() - 256))
        labels = _LABEL.match(text, start)
        if labels and labels.end() >= dot.end():
            done = dot.end()
            yield _unpunctuated(text, start, dot.end(), "DOMAIN_NAME", 0.8)


def _mails(text: str) -> Iterator[Candidate]:
    for pattern in (_MAIL_HOST, _BARE_HOST):
        for match in pattern.finditer(text):
            start = _local_start(text, match.start())
            if start < match.start():
                yield _unpunctuated(text, start, match.end(), "EMAIL_ADDRESS", 1.0)
    if "\n" in text:
        yield from _mails_over_lines(text)
    for match in _HANDLE.finditer(text):
        yield Candidate(*match.span(1), "USERNAME", 0.9, "handle")


def _local_start(text: str, at: int) -> int:
    """Return where the local part begins that ends before the at sign."""
    quoted = _QUOTED_LOCAL.search(text, max(0, at - _LONGEST_LOCAL), at)
    if quoted:
        return quoted.start()
    start = at
    while start and at - start < _LONGEST_LOCAL and _mailable(text[start - 1]):
        start -= 1
    while start < at and text[start] == "'":
        start += 1
    return start


def _mails_over_lines(text: str) -> Iterator[Candidate]:
    """Yield addresses that a line's end breaks."""
    at = text.find("@")
    while at >= 0:
        left = _LEFT_OVER_LINES.search(text, max(0, at - 2 * _LONGEST_LOCAL), at)
        right = _RIGHT_OVER_LINES.match(text, at)
        at = text.find("@", at + 1)
        if not left or not right:
            continue
        end = right.end()
        host = right.group().rpartition(".")[0] if right["top"] else right.group()
        if right["top"] and not _goes_on(host.rstrip(), right["top"]):
            end, host = right.start() + len(host.rstrip()), host.rpartition(".")[0]
        if "." not in text[right.start() : end]:
            continue
        lower = left["first"] and left["first"].islower()
        start = left.start() if lower else left.start("local")
        if "\n" in text[start:end] and (not left["broken"] or "." in right.group()):
            yield _unpunctuated(text, start, end, "EMAIL_ADDRESS", 0.9)


def _goes_on(host: str, top: str) -> bool:
    """Say whether a host goes on behind the point that ends its line."""
    last = host.rpartition(".")[2].lower()
    return top in _TOP_LEVELS and (last not in _TOP_LEVELS or top in _COUNTRIES)


_COUNTRIES = ("uk", "au", "nz", "jp", "kr", "br", "za")
_LONGEST_LOCAL = 64


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


def secrets(tokens: Tokens) -> Iterator[Candidate]:
    """Yield credentials, by the word in front or by the marks of a key."""
    text = tokens.text
    for word in filter(_SECRET_CUES.fullmatch, tokens.where):
        for index in tokens.where[word]:
            yield from _introduced(text, tokens.starts[index], tokens.ends[index])
    for match in begun(_KEY, tokens, _KEY_PREFIXES):
        yield Candidate(*match.span(), "CREDENTIAL", 1.0, "pattern")
    for mark, pattern in _MARKED_KEYS.items():
        if mark in text:
            for match in pattern.finditer(text):
                yield _unpunctuated(text, *match.span(), "CREDENTIAL", 1.0)


def _introduced(text: str, start: int, end: int) -> Iterator[Candidate]:
    """Yield what a word for a credential introduces."""
    match = _SECRET.match(text, end)
    if match is None:
        return
    if text[start : start + 3].lower() == "key" and not _API.search(
        text, max(0, start - 8), start
    ):
        return
    if (match[1].isalpha() and ":" not in match[0]) or is_code(match[1]):
        return
    position, end = match.span(1)
    while end - position > 1 and text[end - 1] in ".!?)":
        end -= 1
    yield Candidate(position, end, "CREDENTIAL", 0.8, "context")


def is_code(value: str) -> bool:
    """Say whether a program or a form says this of a secret, and it is none itself."""
    word = value.strip("()[]{}:,.;?!")
    return (
        word.lower() in _NO_SECRETS
        or _SECRET_CUES.fullmatch(word) is not None
        or _EXPRESSION.fullmatch(value) is not None
    )


_NO_SECRETS = word_set("empty_values") | FUNCTION_WORDS
_EXPRESSION = re.compile(
    r"(?:\w*_\w*|\w+\.[\w.]+)\(.*|\w+\(\).*|(?:\w+\.)+\w+\[.*|\$?\{.*"
)


def _unpunctuated(
    text: str, start: int, end: int, type_: str, confidence: float
) -> Candidate:
    """Leave out the marks of the sentence behind it."""
    while text[end - 1] in ".,;:!?":
        end -= 1
    return Candidate(start, end, type_, confidence, "pattern")


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
_SEPARATED = (
    re.compile(rf":{_HEX}{{0,4}}:"),
    re.compile(rf"-{_HEX}{{1,4}}-{_HEX}"),
    re.compile(rf"\.{_HEX}{{4}}\.{_HEX}"),
)
_FIGURES = frozenset("0123456789abcdefABCDEF")
_HEX_GROUP = 4
_ADDRESS_CUE = re.compile(
    r"(?i)\b(?:ip|ipv6|address|host|listen\w*|bind|bound|on|to)\b.{0,6}$"
)
_ZEROS = re.compile(r"(?<=[.:])0+(?=\d{1,2}(?:\.|$))")
_HIGHEST = 255


def machine_addresses(tokens: Tokens, positions: list[int]) -> Iterator[Candidate]:
    """Yield MAC and IP addresses."""
    text = tokens.text
    marked = _separated(text)
    for match in matches(_MAC, text, sorted({*marked, *positions})):
        # Six pairs of figures may also be a number with hyphens.
        plain = not re.search("[A-Fa-f:]", match.group())
        if not (plain and re.search("[ .]", match.group())):
            yield Candidate(*match.span(), "CODE", 0.5 if plain else 1.0, "mac")
    for match in cued(_BARE_MAC, tokens, _MAC_WORDS):
        yield Candidate(*match.span(1), "CODE", 0.95, "mac")
    for match in matches(_IPV4, text, positions):
        octets = re.findall(r"\d+", match.group().partition(":")[0].partition("/")[0])
        if all(int(octet) <= _HIGHEST for octet in octets):
            yield Candidate(*match.span(), "IP_ADDRESS", 0.95, "address")
    yield from _version_six(text, marked)


def _separated(text: str) -> list[int]:
    """Return where what has colons, hyphens or points between its figures begins."""
    positions: set[int] = set()
    for mark in _SEPARATED:
        for match in mark.finditer(text):
            position = match.start()
            while (
                position
                and match.start() - position < _HEX_GROUP
                and text[position - 1] in _FIGURES
            ):
                position -= 1
            positions.add(position)
    return sorted(positions)


def _version_six(text: str, positions: list[int]) -> Iterator[Candidate]:
    """Yield IPv6 addresses, with their zone and the length of their network."""
    for match in matches(_IPV6, text, positions):
        start, end = match.span()
        value = match.group()
        if value.endswith(":") and not value.endswith("::"):
            value, end = value[:-1], end - 1
        if not _parses(value):
            continue
        # Names in programs have colons too: a::b.
        cue = any(c.isdigit() for c in value) or _ADDRESS_CUE.search(
            text, max(0, start - 24), start
        )
        yield Candidate(start, end, "IP_ADDRESS", 1.0 if cue else 0.4, "address")


def _parses(value: str) -> bool:
    try:
        ipaddress.IPv6Address(_ZEROS.sub("", value.partition("/")[0]))
    except ValueError:
        return False
    return True
