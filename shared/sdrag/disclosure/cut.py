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
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replacements:
    """What stands where in a redacted text; it holds none of the text."""

    edits: tuple[Edit, ...] | None = ()
    constraint_ids: tuple[str, ...] = ()
    spans: int = 0
    types: tuple[str, ...] = ()

    def apply(self, text: str) -> RedactedText:
        """Replace them in the text that they were found for."""
        if self.edits is None:
            return RedactedText(None, self.constraint_ids, 1)
        redacted = apply_edits(text, self.edits)
        return RedactedText(redacted, self.constraint_ids, self.spans, self.types)


def cut(
    text: str, taken: Taken, applied: Sequence[str], style: PlaceholderStyle
) -> Replacements:
    """Return what constraints replace in a text."""
    spans = _enforce(text, taken, applied, style)
    if not spans:
        return Replacements()
    taking = frozenset[str]().union(*spans.values())
    names = tuple(name for name in applied if name in taking)
    if WITHHOLD_ALL in spans:
        return Replacements(None, names)
    layout = read_cells(text)
    placeholders = style.choose(text, _find_regions(layout, spans, style))
    types = tuple(sorted(map(style.type_of, placeholders.values())))
    edits = place(layout, placeholders)
    return Replacements(edits, names, len(placeholders), types)


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
    spans = _enforce(text, taken, applied, style)
    if WITHHOLD_ALL in spans:
        return {}
    parts = _find_regions(read_cells(text), spans, style)
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


def _enforce(
    text: str, taken: Taken, applied: Sequence[str], style: PlaceholderStyle
) -> dict[Span, frozenset[str]]:
    """Return what the applied constraints take that no placeholder stands for yet."""
    enforced = frozenset(applied)
    spans = {span: by & enforced for span, by in taken.items() if by & enforced}
    standing = SpanUnion(style.placeholders.find(text) if spans else ())
    return {span: by for span, by in spans.items() if not standing.contains(span)}


def _find_regions(layout: Layout, spans: Taken, style: PlaceholderStyle) -> Parts:
    """Return where placeholders stand, and what of it each constraint takes."""
    alike = style.placeholders.find_alike(layout.text)
    touched = filter(SpanUnion(spans).overlaps, alike)
    regions = [
        with_brackets(layout, region)
        for region in _join(layout, (*spans, *touched), style.between)
    ]
    parts: Parts = {region: [] for region in regions}
    starts = [region.start for region in regions]
    for span, by in spans.items():
        parts[regions[bisect_right(starts, span.start) - 1]].append((span, by))
    return parts


def _join(
    layout: Layout, spans: Iterable[Span], between: re.Pattern[str]
) -> tuple[Span, ...]:
    """Join spans of one cell that nothing but `between` parts, sorted and apart."""
    joined: list[Span] = []
    for span in merge(spans):
        if (
            joined
            and between.fullmatch(layout.text, joined[-1].end, span.start)
            and layout.at(joined[-1].start) == layout.at(span.start)
        ):
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return tuple(joined)
