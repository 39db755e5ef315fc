"""Addresses on networks, credentials and keys: found by their marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import listed
from sdrag.detectors.local.words import Tokens

__all__ = ["links", "secrets"]

_MAIL_HOST = re.compile(r"@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_HANDLE = re.compile(r"(?<![\w@/.])@([A-Za-z_][\w.]{1,38}\w)")
_SCHEME = re.compile(
    r"(?:https?|ftp|ssh|s3|postgres(?:ql)?|mysql|mongodb|redis)(?:\+\w{1,10})?$"
)
_LINK = re.compile(r"://[^\s<>\"')\]]{3,2000}|www\.[^\s<>\"')\]]{3,500}")
_LABEL = re.compile(r"[a-zA-Z0-9-]{1,63}(?:\.[a-zA-Z0-9-]{1,63}){1,5}")
_DOTTED = re.compile(r"\.[a-zA-Z]{2,12}(?![@\w-])")
_TOP_LEVELS = listed("""
        com org net edu gov mil int info biz name io ai co uk de fr es it nl be ch at
        se no dk fi pl cz hu ro bg gr tr ru ua pt ie eu us ca au nz in cn jp kr br mx
        ar za me tv internal local lan corp test example invalid localhost
        """)
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
_KEY_PREFIXES = listed("""
        sk pk rk ghp gho ghs ghu ghr xoxa xoxb xoxp xoxr xoxs glpat hf npm pypi
        """)
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


def links(text: str) -> Iterator[Found]:
    """Yield mail addresses, handles, links and domain names."""
    if "@" in text:
        yield from _mails(text)
    if "://" in text or "www." in text:
        for match in _LINK.finditer(text):
            scheme = _SCHEME.search(text, max(0, match.start() - 24), match.start())
            if scheme or text[match.start()] == "w":
                start = scheme.start() if scheme else match.start()
                yield _bare(text, start, match.end(), "URL", 1.0)
    done = 0
    for dot in _DOTTED.finditer(text):
        if dot.start() < done or dot.group()[1:] not in _TOP_LEVELS:
            continue
        start = _back(text, dot.start(), max(done, dot.start() - 256))
        labels = _LABEL.match(text, start)
        if labels and labels.end() >= dot.end():
            done = dot.end()
            yield _bare(text, start, dot.end(), "DOMAIN_NAME", 0.8)


def _mails(text: str) -> Iterator[Found]:
    for match in _MAIL_HOST.finditer(text):
        start = match.start()
        while start and match.start() - start < 64 and _mailable(text[start - 1]):
            start -= 1
        if start < match.start():
            yield _bare(text, start, match.end(), "EMAIL_ADDRESS", 1.0)
    for match in _HANDLE.finditer(text):
        yield Found(*match.span(1), "USERNAME", 0.9, "handle")


def _mailable(character: str) -> bool:
    return character.isalnum() or character in "_.+%-"


def _back(text: str, place: int, least: int) -> int:
    """Return where the labels begin that lead to the dot."""
    while place > least and (text[place - 1].isalnum() or text[place - 1] in ".-"):
        place -= 1
    while text[place] in ".-":
        place += 1
    return place


def secrets(tokens: Tokens) -> Iterator[Found]:
    """Yield credentials, by the word in front or by the marks of a key."""
    text = tokens.text
    for word in filter(_SECRET_CUES.fullmatch, tokens.where):
        for index in tokens.where[word]:
            yield from _told(text, tokens.starts[index], tokens.ends[index])
    for index in tokens.places(_KEY_PREFIXES):
        match = _KEY.match(text, tokens.starts[index])
        if match:
            yield Found(*match.span(), "CREDENTIAL", 1.0, "pattern")
    for mark, pattern in _MARKED_KEYS.items():
        if mark in text:
            for match in pattern.finditer(text):
                yield _bare(text, *match.span(), "CREDENTIAL", 1.0)


def _told(text: str, start: int, end: int) -> Iterator[Found]:
    """Yield what a word for a credential introduces."""
    match = _SECRET.match(text, end)
    if match is None:
        return
    if text[start : start + 3].lower() == "key" and not _API.search(
        text, max(0, start - 8), start
    ):
        return
    if match[1].isalpha() and ":" not in match[0]:
        return
    place, end = match.span(1)
    while end - place > 1 and text[end - 1] in ".!?)":
        end -= 1
    yield Found(place, end, "CREDENTIAL", 0.8, "context")


def _bare(text: str, start: int, end: int, type_: str, confidence: float) -> Found:
    """Leave out the marks of the sentence behind it."""
    while text[end - 1] in ".,;:!?":
        end -= 1
    return Found(start, end, type_, confidence, "pattern")
