"""
Sentences and words, with their offsets.

A rule-based segmenter is enough for what it serves: chunks of an index, windows of a
scan, units of withholding. It errs towards longer sentences, because a name cut from
its title is worse than two sentences kept together. Wrapped lines of prose are one
sentence; a heading, a list item, a field, a row of a table and a line of a log are
each one of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.text.folding import is_boundary
from sdrag.vocabulary import Span

_WORD = re.compile(r"\w+(?:['\u2019\u2011-]\w+)*")
# A terminator with its closing quotes, followed by space; a CJK terminator; a line
# break; a mark between two cells. A run of dots is tried at its first one only, and
# never given back: a page of dots costs one pass.
_END = re.compile(
    r"""(?<![.!?\u2026])[.!?\u2026]++["'\u2019\u201d)\]]*+(?=\s)|[\u3002\uff01\uff1f]["\u300d\u300f)]*"""
    r"""|\n[ \t\r\f\v]*\n|\n|(?P<cell>\t+|\|)"""
)
_STRUCTURED = re.compile(
    r"[ \t>]*+(?:[-+*\u2022][ \t]|\d{1,3}[.)][ \t]|\#{1,6}[ ]|[|{}\[\]<]|[-=*_]{3}"
    r"|[\"'][\w ./-]{1,40}[\"'][ ]?:|[\w.-]{1,40}[ ]?[:=](?:[ \t\"']|$)"
    r"|[A-Z][\w.'&-]{0,20}(?:[ /(][\w.'&)-]{1,20}){0,3}:(?:\s|$)|\d{4}-\d\d-\d\d)"
)
_CELL = re.compile(r"(?<=\S)[;,](?=\S)")
_WORDED_CELL = re.compile(r"(?<=[^\s\d])[;,](?=[^\s\d])")
_FEWEST = 2
"""A row has so many separators with nothing around."""
_SEPARATED = re.compile(r"\t|[ ]\|[ ]|(?<=[^\s.!?])[ ]{3,}(?=\S)")
_SMALL = frozenset(
    ["of", "and", "the", "for", "in", "on", "to", "a", "an", "de", "van", "von", "der"]
)
_SHORT = 40
_LONGEST_HEADING = 10
_LONGEST_LINE = 400
"""So much of a line is looked at."""

_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'\u201c\u2018])(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]?|Dr|Mr|Mrs|Ms|Mx"
    r"|Prof|Rev|Fr|Sr|Jr|St|Sgt|Capt|Cpt|Lt|Col|Gen|Maj|Cmdr|Adm|Hon|Pres|Gov|Sen|Rep"
    r"|Insp|Det|Supt|Const|Mme|Mlle|Herr|Frau|No|Nos|Nr|Vol|pp|p|ca|cf|vs|etc|approx"
    r"|al|Fig|Figs|Sec|Art|Ch|Eq|Inc|Ltd|Co|Corp|Bros|dept|est|ext|tel|Jan|Feb|Mar"
    r"|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Ave|Blvd|Rd"
    r"|Mt|Ft|e\.g|i\.e|viz|v)$"
)
_LOOK_BACK = 16


def sentences(text: str, *, cells: bool = False) -> tuple[Span, ...]:
    """
    Cut a text into sentences; the spans hold no outer whitespace.

    Args:
        text: What is cut.
        cells: Each cell of a table is a sentence too, and not only each row.
    """
    sentences: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        if match["cell"]:
            if cells and _parts_cells(text, match):
                _add(sentences, text, start, match.start())
                start = match.end()
        elif _ends_sentence(text, match):
            _add(sentences, text, start, match.end())
            start = match.end()
    _add(sentences, text, start, len(text))
    return tuple(sentences)


def around(text: str, span: Span) -> Span:
    """Extend a span to the sentences that it is in."""
    parts = [each for each in sentences(text) if each.overlaps(span)]
    return Span(parts[0].start, parts[-1].end) if parts else span


def windows(text: str, limit: int) -> Iterator[Span]:
    """Cut a text into windows, between sentences where that is possible, else words."""
    ends = [span.end for span in sentences(text)] if len(text) > limit else []
    start = position = 0
    while len(text) - start > limit:
        end = start
        while position < len(ends) and ends[position] <= start + limit:
            end = ends[position]
            position += 1
        if end <= start:
            end = start + limit
            while end > start and not is_boundary(text, end):
                end -= 1
        end = end if end > start else start + limit
        yield Span(start, end)
        start = end
    if start < len(text):
        yield Span(start, len(text))


def words(text: str) -> tuple[Span, ...]:
    """Cut a text into words; hyphens and apostrophes inside a word stay in it."""
    return tuple(Span(*match.span()) for match in _WORD.finditer(text))


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    mark = match.group()
    if mark == "\n":
        return _ends_line(text, match.start())
    if not mark.startswith("."):
        return True
    rest = text[match.end() : match.end() + _LOOK_BACK].lstrip()
    if rest and (rest[0].islower() or rest[0] in ",;:"):
        return False
    if len(mark) > 1:
        return True
    before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    return _ABBREVIATION.search(before) is None


def _add(sentences: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        offset = start + len(piece) - len(piece.lstrip())
        sentences.append(Span(offset, offset + len(stripped)))


def is_structured(line: str) -> bool:
    """Say whether a line is an item, a field, a row or of a log, and no prose."""
    cells = line.lstrip(" \t>")
    return bool(
        _STRUCTURED.match(line) or _SEPARATED.search(cells) or row_separator(cells)
    )


def row_separator(line: str) -> str:
    """Return what parts the cells of a line, where nothing else is between them."""
    marks = _CELL.findall(line)
    if len(marks) < _FEWEST or not _WORDED_CELL.search(line):
        return ""
    return ";" if marks.count(";") >= _FEWEST else ","


def _ends_line(text: str, position: int) -> bool:
    """Say whether a line break parts two lines, and does not wrap one."""
    before, after = line_before(text, position), line_after(text, position + 1)
    if is_structured(after):
        return True
    if after.lstrip(" \t>\"'(\u201c\u2018")[:1].islower():
        return False
    return is_structured(before) or _is_heading(before.strip())


def _is_heading(line: str) -> bool:
    """Say whether a line is short, or all its words have capitals."""
    if not line or line[-1] in ".,;!?":
        return False
    words = line.split()
    return (len(line) < _SHORT and line[0].isupper()) or (
        len(words) <= _LONGEST_HEADING
        and all(not word[0].islower() or word in _SMALL for word in words)
    )


def _parts_cells(text: str, match: re.Match[str]) -> bool:
    """Say whether a tab or a bar is between two cells of a row."""
    if match.group() != "|":
        return True
    line = line_before(text, match.start()) + line_after(text, match.start())
    return line.count("|") > 1 or line.lstrip().startswith("|")


def line_before(text: str, position: int) -> str:
    """Return the line up to a position; not all of a very long one."""
    least = max(0, position - _LONGEST_LINE)
    return text[max(least, text.rfind("\n", least, position) + 1) : position]


def line_after(text: str, position: int) -> str:
    """Return the line from a position on; not all of a very long one."""
    limit = position + _LONGEST_LINE
    end = text.find("\n", position, limit)
    return text[position : end if end >= 0 else limit]
