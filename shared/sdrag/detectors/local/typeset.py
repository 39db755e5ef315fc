"""
A text as it was before it was typeset or put into a table.

Line ends, hyphens at them and ligatures part a name that a reader sees as one.
So such a text is read a second time without them, and what either reading finds is
found.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter

from sdrag.detectors.local import tables
from sdrag.detectors.local.tables import TITLES, is_common
from sdrag.text.mapped import MappedText, Pieces
from sdrag.text.sentences import is_structured, line_after, line_before, row_separator

_TYPESET = re.compile(
    r"(?P<ligature>(?<=[A-Za-z]) (?:(?:ffi|ffl|ff|fi"
    r"|fl)(?![A-Za-z])(?: [a-z]{1,20}(?![A-Z"
    r"a-z]))?|ff[a-z]{1,20}(?![A-Za-z])))"
    r"|(?P<cell>(?<=\S)[;,](?=\S))"
    r"|(?P<line>\r?\n[ \t>]*(?=[\w@\"'(\u201c\u2018]))"
)
_TOP_LEVELS = tables.word_set("top_level_domains")
_WORD_BEFORE = re.compile(r"(?<![A-Za-z])[A-Za-z]+$")
_LONGEST_WORD = 20
_LINE_HYPHENS = ("-", "\u00ad", "\u2010")
_SEPARATOR = re.compile(r"\S[;,]\S")
_LETTERS = re.compile(r"[^\W\d_]+")
_TWO = 2
_MAY_BE_TYPESET = re.compile(r"\n|\S[;,]\S|[A-Za-z] (?:ff|f[il]\b)")
_LOWER_CASE = re.compile(r"(?<!\w)(?!and\b|for\b|the\b|von\b|van\b)[a-z]{3}")
_GOES_ON = re.compile(r"(?:[\w,;&'\")]|(?<![\w.])[A-Z]\.)$")


_Piece = tuple[str, int, int]
"""What stood for `text[start:end]` before, the start, and the end."""


def undo_typesetting(text: str) -> MappedText | None:
    """
    Return the text as it was before it was typeset, or `None` where it is the same.

    Wrapped lines of prose are joined, words that were hyphenated at the end of a line
    are whole, ligatures that a reader of PDF files split off are in their words
    (Gri ffi ths), and each cell of a row of a CSV file is on a line of its own.
    """
    if not _MAY_BE_TYPESET.search(text):
        return None
    pieces = Pieces()
    rows = _rows(text)
    done = 0
    for match in _TYPESET.finditer(text):
        if match["cell"] and not _parts_cells(match, rows):
            continue
        for part, first, last in _written(text, match):
            if first > done:
                pieces.add(text[done:first], done)
            pieces.add(part, first, last - first)
            done = last
    if not done:
        return None
    pieces.add(text[done:], done)
    return MappedText(*pieces.fields(), MappedText.of(text))


def _rows(text: str) -> list[tuple[int, int, str]]:
    """Return where rows are, and what parts their cells."""
    rows = []
    start = 0
    for line in text.splitlines(keepends=True) if _SEPARATOR.search(text) else ():
        separator = row_separator(line)
        if separator:
            rows.append((start, start + len(line), separator))
        start += len(line)
    return rows


def _parts_cells(match: re.Match[str], rows: list[tuple[int, int, str]]) -> bool:
    row = bisect_right(rows, match.start(), key=itemgetter(0)) - 1
    return row >= 0 and match.start() < rows[row][1] and match["cell"] == rows[row][2]


def _written(text: str, match: re.Match[str]) -> Iterator[_Piece]:
    start, end = match.span()
    if match["cell"]:
        yield "\n", start, end
    elif match["ligature"]:
        yield from _with_ligature(text, start, end)
    else:
        yield from _joined(text, start, end)


def _with_ligature(text: str, start: int, end: int) -> Iterator[_Piece]:
    """Yield the spaces around a ligature that are inside its word."""
    first = _WORD_BEFORE.search(text, max(0, start - _LONGEST_WORD), start)
    if first:
        for space in _split_at(text[first.start() : end]):
            position = first.start() + space
            yield "", position, position + 1


def _split_at(words: str) -> list[int]:
    """Return where spaces part a ligature from its word."""
    parts = words.split(" ")
    spaces = [len(parts[0])]
    if len(parts) > _TWO:
        spaces.append(len(parts[0]) + 1 + len(parts[1]))
        left, right = parts[0] + parts[1], parts[1] + parts[2]
        if not _is_known(parts[0] + right):
            if _is_known(left):
                return spaces[:1]
            if _is_known(right) and is_common(parts[0]):
                return spaces[1:]
    return spaces


def _is_known(word: str) -> bool:
    name = word.capitalize()
    return is_common(word) or name in tables.surnames() or name in tables.first_names()


def _joined(text: str, start: int, end: int) -> Iterator[_Piece]:
    """Yield a line break inside a word or a sentence."""
    while start and text[start - 1] in " \t":
        start -= 1
    if _breaks_address(line_before(text, start), line_after(text, end)):
        yield "", start, end
        return
    hyphen = text[start - 1 : start] in _LINE_HYPHENS and text[end].isalpha()
    if hyphen and text[start - 2 : start - 1].isalpha():
        kept = text[start - 1] != "\u00ad" and text[end].isupper()
        yield "-" if kept else "", start - 1, end
    elif _is_wrapped(text, start, end):
        yield " ", start, end


def _breaks_address(before: str, after: str) -> bool:
    """Return True if an e-mail address goes on behind a line break."""
    last, first = before.rpartition(" ")[2], after.partition(" ")[0]
    if last.endswith("@") or first.startswith("@"):
        return last[:1].isalnum()
    if "@" in last:
        return last.endswith(".") and first.strip(".,") in _TOP_LEVELS
    return "@" in first and last.islower() and last.endswith((".", "_", "-", "+"))


def _is_wrapped(text: str, start: int, end: int) -> bool:
    """Return True if a line break wraps prose; after a title it always does."""
    before, after = line_before(text, start), line_after(text, end)
    last = before.rsplit(" ", 1)[-1]
    if last.rstrip(".") in TITLES:
        return True
    if not _GOES_ON.search(before) or is_structured(before) or is_structured(after):
        return False
    prose = _LOWER_CASE.findall(before)
    if text[end].isupper() and before[-1] != ".":
        return len(prose) >= _TWO
    return bool(prose or _LOWER_CASE.search(after))
