"""
What the author of a policy lets stay, the only thing that takes a finding away.

A keep opens what it spells out under the constraint it belongs to, and no more. What
was found as a mention, such as a person's name, stays only if a keep covers all of it;
of a stretch that was found for its meaning, the words of the keep stay. A pattern opens
codes as well, but for those with a check digit. Other structured identifiers, what the
constraint itself names and what was encoded are never opened, nor is a form that the
document's register knows from elsewhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from sdrag.detectors.local import mentions
from sdrag.text.folding import fold
from sdrag.text.patterns import linear_pattern
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.text.sentences import sentences
from sdrag.text.spans import SpanUnion, merge, widen
from sdrag.vocabulary import STRUCTURED, Constraint, Finding, Keep, Span

_MENTIONS = frozenset({"type", "again", "pattern"})
"""The reasons of findings that are one mention each."""
_STRETCHES = frozenset({"cue", "scored", "model"})
"""The reasons of findings that may be a whole sentence."""
_WITH_CHECK_DIGIT = frozenset({"scheme"})
"""The reasons of mentions of codes whose digits were checked."""
_ROW = re.compile(r"[|\t]|[,;].*[,;]")
"""What a row of a table holds."""
_LONGEST_ROW = 400
_LONGEST_LABEL = 20
"""A sentence of so many characters may say what the next one is."""


def apply_keeps(
    text: str, findings: Sequence[Finding], constraint: Constraint
) -> list[Finding]:
    """Return what is left of findings once the keeps of their constraint are heard."""
    if not constraint.keep or not findings:
        return list(findings)
    words = find_kept(text, constraint.keep)
    covered, by_type = SpanUnion(words), _TypeKeeps(text, constraint.keep)
    patterns = [keep for keep in constraint.keep if keep.pattern]
    codes = SpanUnion(find_kept(text, patterns))
    left: list[Finding] = []
    for finding in findings:
        if finding.type in STRUCTURED:
            if finding.type != "CODE" or not codes.contains(finding.span):
                left.append(finding)
        elif finding.reason in _STRETCHES:
            left += _without(text, finding, words)
        elif finding.reason not in _MENTIONS or not (
            covered.contains(finding.span) or by_type.keep(finding)
        ):
            left.append(finding)
    return left


def find_kept(text: str, keeps: Sequence[Keep]) -> tuple[Span, ...]:
    """Return where words and patterns of keeps are, but for what is never opened."""
    spans = [
        (span, bool(keep.pattern))
        for keep in keeps
        if keep.words or keep.pattern
        for span in _find(keep, text)
        if widen(text, span) == span
    ]
    if not spans:
        return ()
    identifiers = [each for each in mentions(text) if each.type in STRUCTURED]
    to_words = SpanUnion(each.span for each in identifiers)
    to_patterns = SpanUnion(
        each.span
        for each in identifiers
        if each.type != "CODE" or each.reason in _WITH_CHECK_DIGIT
    )
    kept = (
        span
        for span, by_pattern in spans
        if not (to_patterns if by_pattern else to_words).overlaps(span)
    )
    return merge(kept, text)


def _find(keep: Keep, text: str) -> Iterator[Span]:
    """Yield where a keep's pattern, or one of its words, is."""
    if keep.pattern:
        yield from linear_pattern(keep.pattern).find(text)
    folded = text.casefold()
    for first, *others in map(str.split, keep.words):
        if first.casefold() in folded:  # few of a list are in one text
            words = r"\s+".join(map(re.escape, (first, *others)))
            yield from linear_pattern(words).find(text)


class _TypeKeeps:
    """The keeps of a constraint that let mentions of a type stay in a text."""

    def __init__(self, text: str, keeps: Sequence[Keep]) -> None:
        self._text = text
        self._cues = [
            (keep.type, PhraseMatcher(keep.unless_near)) for keep in keeps if keep.type
        ]
        self._parts = sentences(text) if any(cues for _, cues in self._cues) else ()
        self._starts = [part.start for part in self._parts]
        # A sentence may hold many mentions, and a line many cells.
        self._occurs: dict[tuple[int, Span], bool] = {}
        self._heads: dict[int, Span | None] = {}

    def keep(self, finding: Finding) -> bool:
        """Say whether a mention stays: no cue is near it."""
        near = list(self._near(finding.span)) if self._parts else []
        return any(
            not any(self._cued(number, span) for span in near)
            for number, (type_, _) in enumerate(self._cues)
            if type_ == finding.type
        )

    def _near(self, span: Span) -> Iterator[Span]:
        """Yield its sentence, a label before it, and the head of its table."""
        first = max(0, bisect_right(self._starts, span.start) - 1)
        last = bisect_right(self._starts, span.end - 1)
        for part in self._parts[max(0, first - 1) : last]:
            if part.start >= self._starts[first] or len(part) <= _LONGEST_LABEL:
                yield part
        line = self._text.rfind("\n", 0, span.start) + 1
        if line not in self._heads:
            self._heads[line] = self._find_head(line)
        if (head := self._heads[line]) is not None:
            yield head

    def _cued(self, number: int, span: Span) -> bool:
        asked = (number, span)
        if asked not in self._occurs:
            folded = fold(span.of(self._text))
            self._occurs[asked] = self._cues[number][1].occur(folded)
        return self._occurs[asked]

    def _find_head(self, line: int) -> Span | None:
        """Return the first line of a table, if there is a row from `line` on."""
        if not _ROW.search(self._text[line : line + _LONGEST_ROW].split("\n")[0]):
            return None
        start = self._text.rfind("\n\n", 0, line)
        start = 0 if start < 0 else start + 2
        end = self._text.find("\n", start)
        return Span(start, len(self._text) if end < 0 else max(end, start + 1))


def _without(text: str, finding: Finding, kept: Sequence[Span]) -> Iterator[Finding]:
    """Yield the stretches of a finding between what stays, which is in order."""
    start, end = finding.span.start, finding.span.end
    first = bisect_right(kept, start, key=lambda span: span.end)
    inside = takewhile(lambda span: span.start < end, kept[first:])
    for stop, resume in (*((s.start, s.end) for s in inside), (end, end)):
        piece = text[start:stop]
        if any(map(str.isalnum, piece)):
            begin = start + len(piece) - len(piece.lstrip())
            yield replace(finding, span=Span(begin, start + len(piece.rstrip())))
        start = max(start, resume)
