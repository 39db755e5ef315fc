"""
What a text puts in quotation marks, and whether another text says it word for word.

Quotation marks come in pairs, and a single one is an apostrophe unless it stands at a
word's edge. A quotation is looked up as highlights are: without regard to case, spaces,
line ends, hyphens at them and Markdown. An ellipsis, or a word that an editor put in
brackets, stands for any words between the parts of a quotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sdrag.text.folding import fold_text, is_boundary
from sdrag.text.readings import strip_markup
from sdrag.vocabulary import Span

_LONGEST = 1000
_QUOTATION = re.compile(
    rf"\u201c([^\u201c\u201d]{{1,{_LONGEST}}})\u201d"
    rf"|\u201e([^\u201e\u201c\u201d]{{1,{_LONGEST}}})[\u201c\u201d]"
    rf"|\u00ab([^\u00ab\u00bb]{{1,{_LONGEST}}})\u00bb"
    rf"|(?<![\w\"])\"(?=\S)([^\"]{{1,{_LONGEST}}})\"(?!\w)"
    rf"|(?<!\w)\u2018((?:[^\u2018\u2019]|\u2019(?=\w)){{1,{_LONGEST}}})\u2019(?!\w)"
    rf"|(?<!\w)'(?=\S)((?:[^'\n]|(?<=\w)'(?=\w)){{1,{_LONGEST}}})'(?!\w)"
)
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_GAP = re.compile(r"\[[^\]]{0,60}\]|\(\u2026\)|\(\.\.\.\)|\u2026|\.\.\.+")
_CHANGED_LETTER = re.compile(r"\[(\w)\](?=\w)")
_EDGES = " \n.,;:!?\u2013\u2014-"


def find_quotations(text: str) -> list[Span]:
    """Return what stands between quotation marks, without them, in order."""
    return [
        Span(*match.span(match.lastindex or 0))
        for match in _QUOTATION.finditer(text)
        if not _PARAGRAPH.search(match.group())
    ]


def is_quoted_from(quotation: str, texts: Iterable[str]) -> bool:
    """Say whether one of the texts holds a quotation, or all its parts in order."""
    quotation = _CHANGED_LETTER.sub(r"\1", quotation)
    whole, parts = [quotation], _GAP.split(quotation)
    return any(
        _holds(read(text), list(map(read, pieces)))
        for text in texts
        for read in (fold_text, _read_unmarked)
        for pieces in (whole, parts)
    )


def _read_unmarked(text: str) -> str:
    return strip_markup(text).text


def _holds(text: str, pieces: Sequence[str]) -> bool:
    """Say whether a text holds pieces of whole words, one after another."""
    worded = [words for piece in pieces if (words := piece.strip(_EDGES))]
    at = 0
    for words in worded:
        at = _find_whole(words, text, at)
        if at < 0:
            return False
    return bool(worded)


def _find_whole(words: str, text: str, start: int) -> int:
    """Return where an occurrence ends that cuts no word, or -1."""
    at = text.find(words, start)
    while at >= 0:
        end = at + len(words)
        if is_boundary(text, at) and is_boundary(text, end):
            return end
        at = text.find(words, at + 1)
    return -1
