"""
Sentences and words, with their offsets.

A rule-based segmenter is enough for what it serves: chunks of an index, windows of a
scan, units of withholding. It errs towards longer sentences, because a name cut from
its title is worse than two sentences kept together.
"""

from __future__ import annotations

import re

from sdrag.vocabulary import Span

__all__ = ["sentences", "words"]

_WORD = re.compile(r"\w+(?:['\u2019\u2011-]\w+)*")
# A terminator with its closing quotes, followed by space; a CJK terminator; or a
# line break that ends a paragraph, a heading or a list item. A run of dots is tried at
# its first one only, and never given back: a page of dots costs one pass.
_END = re.compile(
    r"""(?<![.!?\u2026])[.!?\u2026]++["'\u2019\u201d)\]]*+(?=\s)|[\u3002\uff01\uff1f]["\u300d\u300f)]*"""
    r"""|\n[ \t\r\f\v]*\n|\n(?=[ \t]*(?:[-*\u2022]|\d{1,3}[.)])\s)"""
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'\u201c\u2018])(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]?|Dr|Mr|Mrs|Ms|Mx"
    r"|Prof|Rev|Fr|Sr|Jr|St|Sgt|Capt|Cpt|Lt|Col|Gen|Maj|Cmdr|Adm|Hon|Pres|Gov|Sen|Rep"
    r"|Insp|Det|Supt|Const|Mme|Mlle|Herr|Frau|No|Nos|Nr|Vol|pp|p|ca|cf|vs|etc|approx"
    r"|al|Fig|Figs|Sec|Art|Ch|Eq|Inc|Ltd|Co|Corp|Bros|dept|est|ext|tel|Jan|Feb|Mar"
    r"|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Ave|Blvd|Rd"
    r"|Mt|Ft|e\.g|i\.e|viz|v)$"
)
_LOOK_BACK = 16


def sentences(text: str) -> tuple[Span, ...]:
    """Cut a text into sentences; the spans hold no outer whitespace."""
    found: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, match):
            _add(found, text, start, match.end())
            start = match.end()
    _add(found, text, start, len(text))
    return tuple(found)


def words(text: str) -> tuple[Span, ...]:
    """Cut a text into words; hyphens and apostrophes inside a word stay in it."""
    return tuple(Span(*match.span()) for match in _WORD.finditer(text))


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    mark = match.group()
    if not mark.startswith("."):
        return True
    rest = text[match.end() : match.end() + _LOOK_BACK].lstrip()
    if rest and (rest[0].islower() or rest[0] in ",;:"):
        return False
    if len(mark) > 1:
        return True
    before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    return _ABBREVIATION.search(before) is None


def _add(found: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        offset = start + len(piece) - len(piece.lstrip())
        found.append(Span(offset, offset + len(stripped)))
