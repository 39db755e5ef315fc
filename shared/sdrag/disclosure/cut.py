"""
Cutting out what is withheld.

All spans are replaced at once. What constraints take of the same stretch gets one
placeholder, and so do spans with nothing but light punctuation between them. One that
is in the text already stays as it is; what only looks like one, and brackets around
what goes, go along, so that no placeholder is in pieces or inside another.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from sys import maxsize

from sdrag.disclosure.placeholder_style import Parts, PlaceholderStyle, is_same
from sdrag.placeholders import NUMBERED, with_brackets
from sdrag.text.cells import Edit, Layout, apply_edits, place, read_cells
from sdrag.text.spans import SpanUnion, merge
from sdrag.vocabulary import Confidential, Span

Taken = Mapping[Span, frozenset[str]]
"""Spans, and the ids of the constraints that take each."""
WITHHOLD_ALL = Span(0, maxsize)
"""What takes this takes a text whole: not even a placeholder may leave."""


@dataclass(frozen=True, slots=True, repr=False)
class RedactedText(Confidential):
    """A text after replacement; `None` where a constraint withholds it whole."""

    text: str | None
    constraint_ids: tuple[str, ...] = ()
    spans: int = 0


@dataclass(frozen=True, slots=True)
class Replacements:
    """What stands where in a redacted text; it holds none of the text."""

    edits: tuple[Edit, ...] | None = ()
    constraint_ids: tuple[str, ...] = ()
    spans: int = 0

    def apply(self, text: str) -> RedactedText:
        """Replace them in the text that they were found for."""
        if self.edits is None:
            return RedactedText(None, self.constraint_ids, 1)
        redacted = apply_edits(text, self.edits)
        return RedactedText(redacted, self.constraint_ids, self.spans)


def cut(
    text: str, taken: Taken, applied: Sequence[str], style: PlaceholderStyle
) -> Replacements:
    """Return what constraints replace in a text."""
    layout, parts, names, is_whole = _find_regions(text, taken, applied, style)
    if is_whole:
        return Replacements(None, names)
    placeholders = style.choose(text, parts)
    return Replacements(place(layout, placeholders), names, len(placeholders))


def find_values(
    text: str,
    taken: Taken,
    applied: Sequence[str],
    style: PlaceholderStyle,
    exempt: AbstractSet[str],
) -> dict[str, str | None]:
    """
    Return what each numbered placeholder of a text stands for.

    None for one that stands, somewhere, for what a constraint takes that is not among
    the `exempt`, or for two values.
    """
    _, parts, _, _ = _find_regions(text, taken, applied, style)
    values: dict[str, str | None] = {}
    for region, mark in style.choose(text, parts).items():
        value, part = region.of(text), parts[region]
        if not NUMBERED.fullmatch(mark):
            continue
        first = values.setdefault(mark, value)
        alike = first is not None and is_same(first, value)
        if not alike or not all(by <= exempt for _, by in part):
            values[mark] = None
    return values


def _find_regions(
    text: str, taken: Taken, applied: Sequence[str], style: PlaceholderStyle
) -> tuple[Layout, Parts, tuple[str, ...], bool]:
    """
    Return where placeholders stand, and what of it each constraint takes.

    Returns:
        The layout of the text; the regions with their spans; the constraints that take
        any; and whether one takes all of the text.
    """
    enforced = frozenset(applied)
    spans = {span: by & enforced for span, by in taken.items() if by & enforced}
    whole = spans.pop(WITHHOLD_ALL, frozenset[str]())
    if spans:
        standing = SpanUnion(style.placeholders.find(text))
        spans = {span: by for span, by in spans.items() if not standing.contains(span)}
    taking = whole.union(*spans.values())
    names = tuple(name for name in applied if name in taking)
    if whole:
        return read_cells(""), {}, names, True
    alike = style.placeholders.find_alike(text) if spans else ()
    touched = filter(SpanUnion(spans).overlaps, alike)
    layout = read_cells(text if spans else "")
    regions = [
        with_brackets(layout, region)
        for region in _join(layout, (*spans, *touched), style.between)
    ]
    parts: Parts = {region: [] for region in regions}
    starts = [region.start for region in regions]
    for span, by in spans.items():
        parts[regions[bisect_right(starts, span.start) - 1]].append((span, by))
    return layout, parts, names, False


def _join(
    layout: Layout, spans: Iterable[Span], between: re.Pattern[str]
) -> tuple[Span, ...]:
    """Join spans of one cell that nothing but `between` parts, sorted and apart."""
    joined: list[Span] = []
    for span in merge(spans):
        if joined and between.fullmatch(layout.text, joined[-1].end, span.start):
            last = joined[-1]
            if _cell_of(layout, last) == _cell_of(layout, span):
                joined[-1] = Span(last.start, span.end)
                continue
        joined.append(span)
    return tuple(joined)


def _cell_of(layout: Layout, span: Span) -> int:
    """Return where the cell begins that a span begins in."""
    cell = layout.at(span.start)
    return -1 if cell is None else cell.start
