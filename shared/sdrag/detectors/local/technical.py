"""
What machines write: UUIDs, hashes, versions, times of logs, names of hosts.

Such a value is told by its form as a whole. It is nobody's number and no secret by its
look; what its line says of it may still make it one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.text.spans import shift
from sdrag.vocabulary import Span

_HEX = "[0-9a-fA-F]"
_FORMS = (
    rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}",  # UUID
    r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,128}",  # hash
    rf"0[xX]{_HEX}+|(?:sha|md)\d{{1,3}}[:=-]\S+",
    r"[vV]\d{1,3}(?:[.-]\w+)*",  # version
    r"\d{1,3}(?:\.\d{1,2}){2,3}(?:[-+][a-z][\w.]*)?|\d{1,2}\.\d{1,2}\.\d{1,4}",
    r"\d{4}-\d\d-\d\d[Tt]\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?(?:[Zz]|[+-]\d\d:?\d\d)?",
    r"[a-z]+(?:[-_.][a-z]+)*[-_]?\d{1,2}(?:\.[a-z]+)*",  # host, worker
    r"[a-z]+(?:-[a-z\d]+)+(?:\.[a-z\d]+)*(?:/[a-z\d._-]+)*",
    r"[\w./-]+\.[a-z]{1,4}(?::\d+)+|[a-z][\w./-]*:\d+(?:\.\d+)+",  # place
    r"[\w./-]+@sha\d+:\w+|\d+(?:ms|us|ns|s|m|h|k|x|[KMGTkmgt]i?[Bb]|[kM]?[VWA]|[KMG]?Hz)",
)
_TECHNICAL = re.compile("|".join(_FORMS))
_TOKEN = re.compile(r"[^\s=\"'`()\[\]{}<>|,;]{2,200}")
_PART = re.compile(r"[^:/?&]+")
_PROCESS = re.compile(r"(?<=[a-z]\[)\d{1,7}(?=\])")
"""The number of a process: cron[3407]."""
_EDGES = ".:!?"
_LINK = re.compile(r"(?:[a-z][a-z\d+.-]{1,15}://|\bwww\.)[^\s<>\"')\]]+")
_PIECE = re.compile(r"[^/?&=#:@]+")
_RANDOM = re.compile(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=\D*\d).{8,}")
"""A part of a link that may be a key: capitals, small letters and figures in one."""


def is_technical(value: str) -> bool:
    """Return True for what is written as machines write, as a whole."""
    return _TECHNICAL.fullmatch(value) is not None


def find_technical(text: str) -> Iterator[Span]:
    """Yield what machines write: with a figure in it, and the parts of links."""
    for link in _LINK.finditer(text):
        for piece in _PIECE.finditer(link.group()):
            if not _RANDOM.match(piece.group()):
                yield shift(Span(*piece.span()), link.start())
    for match in _TOKEN.finditer(text):
        start, value = match.start(), match.group().rstrip(_EDGES)
        if not any(map(str.isdecimal, value)):
            continue
        if is_technical(value):
            yield Span(start, start + len(value))
            continue
        for part in _PART.finditer(value):  # of a path, or behind a label: `id:7f3c2a9`
            if any(map(str.isdecimal, part.group())) and is_technical(part.group()):
                yield Span(start + part.start(), start + part.end())
    for process in _PROCESS.finditer(text):
        yield Span(*process.span())
