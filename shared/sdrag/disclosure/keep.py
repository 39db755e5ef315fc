"""
What the author of a policy lets stay, the only thing that takes a finding away.

A keep opens what it spells out under the constraint it belongs to, and no more. What
was found as a mention, such as a person's name, stays only if a keep covers all of it;
of a stretch that was found for its meaning, the words of the keep stay. Structured
identifiers, what the constraint itself names and what was encoded are never opened, nor
is a form that the document's register knows from elsewhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile

from sdrag.detectors.local import mentions
from sdrag.text.patterns import Pattern
from sdrag.text.spans import SpanUnion, merge, widen
from sdrag.vocabulary import STRUCTURED, Constraint, Finding, Keep, Span

_MENTIONS = frozenset({"type", "again"})
"""The reasons of findings that are one mention each."""
_STRETCHES = frozenset({"cue", "scored", "model"})
"""The reasons of findings that may be a whole sentence."""


def without_kept(
    text: str, findings: Sequence[Finding], constraint: Constraint
) -> list[Finding]:
    """Return what is left of findings once the keeps of their constraint are heard."""
    if not constraint.keep or not findings:
        return list(findings)
    words = find_kept(text, constraint.keep)
    covered, types = SpanUnion(words), {keep.type for keep in constraint.keep}
    left: list[Finding] = []
    for finding in findings:
        if finding.type in STRUCTURED:
            left.append(finding)
        elif finding.reason in _STRETCHES:
            left += _without(text, finding, words)
        elif finding.reason not in _MENTIONS or not (
            covered.contains(finding.span) or (finding.type and finding.type in types)
        ):
            left.append(finding)
    return left


def find_kept(text: str, keeps: Sequence[Keep]) -> tuple[Span, ...]:
    """Return where words and patterns of keeps are, but for structured identifiers."""
    spans = [
        span
        for keep in keeps
        if keep.words or keep.pattern
        for span in _compiled(keep).find(text)
        if widen(text, span) == span
    ]
    if not spans:
        return ()
    closed = SpanUnion(m.span for m in mentions(text) if m.type in STRUCTURED)
    return merge((span for span in spans if not closed.overlaps(span)), text)


@lru_cache(maxsize=1024)
def _compiled(keep: Keep) -> Pattern:
    words = r"\s+".join(map(re.escape, keep.words.split()))
    return Pattern(keep.pattern or words)


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
