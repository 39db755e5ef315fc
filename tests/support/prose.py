"""The prose of a page: its sentences, without code, tables of codes and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

_DROPPED = re.compile(
    r"^```.*?^```[^\n]*$|^\$\$.*?^\$\$$|<!--.*?-->|^:::.*?(?=^\S|\Z)",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`[^`]*`")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_`\[A-Z0-9]|sdrag\b)")
_WORD = re.compile(r"[^\W_]")


class Figures(NamedTuple):
    """How long the sentences of a page are, in words."""

    longest: int
    median: float


def sentences(page: str) -> Iterator[str]:
    """Yield each sentence of a page; an item of a list and a cell end one."""
    for text in _blocks(_DROPPED.sub("\n\n", page)):
        plain = _CODE.sub("Code", _LINK.sub(r"\1", text))
        yield from filter(_WORD.search, _END.split(" ".join(plain.split())))


def words(sentence: str) -> int:
    """Count the words of a sentence; code is one word."""
    return sum(1 for word in sentence.split() if _WORD.search(word))


def figures(page: str) -> Figures:
    """Measure a page; cells of tables count for the longest sentence alone."""
    found = [words(one) for one in sentences(page)]
    prose = re.sub(r"^\|.*$", "", page, flags=re.MULTILINE)
    usual = [words(one) for one in sentences(prose)]
    return Figures(max(found, default=0), median(usual) if usual else 0)


def _blocks(page: str) -> Iterator[str]:
    """Yield the paragraphs, items and cells of a page; headings are none."""
    lines: list[str] = []
    for line in [*page.splitlines(), ""]:
        starts = _ITEM.match(line)
        if starts or not line.strip() or line[0] in "#|>":
            yield " ".join(lines)
            lines = []
        if line.startswith("|"):
            yield from line.strip("|").split("|")
        elif line.strip() and not line.startswith("#"):
            lines.append(_ITEM.sub("", line).strip("> "))
    yield " ".join(lines)
