"""
Addresses on networks, credentials and keys: found by their marks.

A MAC address is a `CODE`, as every identifier without a type of its own. What is shaped
like an IPv6 address is one only if it can be parsed, so that times and names with
colons are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.tables import FUNCTION_WORDS, word_set
from sdrag.detectors.local.tokens import Candidate, Tokens

_MAIL_HOST = re.compile(r"@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_BARE_HOST = re.compile(
    r"@(?:(?i:localhost|localdomain|intranet|mailhost)(?![\w.-])|\[[\d.]{7,15}\])"
)
_QUOTED_LOCAL = re.compile(r"\"[^\"\n@]{1,64}\"$")
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


def find_links(text: str) -> Iterator[Candidate]:
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


def find_secrets(tokens: Tokens) -> Iterator[Candidate]:
    """Yield credentials, by the word in front or by the marks of a key."""
    text = tokens.text
    for word in filter(_SECRET_CUES.fullmatch, tokens.where):
        for index in tokens.where[word]:
            yield from _introduced(text, tokens.starts[index], tokens.ends[index])


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
    """Return True if a program or a form says this of a secret."""
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
