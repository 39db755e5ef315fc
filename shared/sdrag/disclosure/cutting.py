"""
Replacing what is withheld: a pure function of a text and its closed spans.

All spans are replaced at once. What constraints take of the same stretch becomes one
mark, and so do marks with nothing but light punctuation between them. A span that
touches a placeholder which is in the text already takes all of it along, so that no
placeholder is left in pieces.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Self

from sdrag.disclosure.placeholders import Marks, any_of, join
from sdrag.text.spans import merge, splice
from sdrag.vocabulary import Confidential, Span

__all__ = ["CutGroup", "RedactedText", "Taken", "cut"]

CutGroup = tuple[frozenset[str], tuple[Span, ...]]
"""The ids of constraints, and the spans that all of them take; none: the text whole."""


@dataclass(frozen=True, slots=True, repr=False)
class Taken(Confidential):
    """
    What constraints take from one text.

    Args:
        names: The ids of all that take something.
        groups: Gives what each list of them takes.
    """

    names: frozenset[str]
    groups: Callable[[], Sequence[CutGroup]]

    @classmethod
    def of(cls, groups: Iterable[CutGroup]) -> Self:
        """Take it from groups."""
        own = tuple(groups)
        return cls(frozenset().union(*(by for by, _ in own)), lambda: own)


@dataclass(frozen=True, slots=True, repr=False)
class RedactedText(Confidential):
    """
    A text after replacement.

    Args:
        text: What is left; `None` where a constraint withholds it whole.
        constraint_ids: Those that took something out.
        spans: How many stretches were replaced.
    """

    text: str | None
    constraint_ids: tuple[str, ...] = ()
    spans: int = 0


def cut(
    text: str,
    taken: Taken,
    applied: Sequence[str],
    marks: Marks,
) -> RedactedText:
    """
    Cut out of a text what constraints withhold.

    Args:
        text: Unredacted.
        taken: What is taken from it, by the constraints that take it.
        applied: The ids of the constraints that are enforced, in their order.
        marks: What stands in place of it, or of what was cut before.
    """
    enforced = frozenset(applied)
    if taken.names.isdisjoint(enforced):
        return RedactedText(text)
    standing = _standing(text, marks.known)
    held = [
        (by & enforced, own)
        for by, own in taken.groups()
        if not by.isdisjoint(enforced)
    ]
    if standing:
        held = list(_outside_placeholders(held, standing))
    if not held:
        return RedactedText(text)
    taking = frozenset().union(*(by for by, _ in held))
    names = tuple(name for name in applied if name in taking)
    if not all(own for _, own in held):
        return RedactedText(None, names, 1)
    regions = _regions(text, merge({span for _, own in held for span in own}), standing)
    parts: dict[Span, list[tuple[Span, frozenset[str]]]] = {r: [] for r in regions}
    starts = [region.start for region in regions]
    for by, own in held:
        for span in own:
            region = regions[bisect_right(starts, span.start) - 1]
            parts[region].append((span, by))

    def mark(region: Span) -> str:
        return marks.mark(text, region, parts[region])

    return RedactedText(splice(text, regions, mark), names, len(regions))


def _standing(text: str, marks: Sequence[str]) -> list[Span]:
    """Return where placeholders are in a text."""
    pattern = any_of(tuple(dict.fromkeys(marks)))
    return [Span(*match.span()) for match in pattern.finditer(text)]


def _outside_placeholders(
    held: Iterable[CutGroup], standing: Sequence[Span]
) -> Iterator[CutGroup]:
    """Leave out what lies within a placeholder: it is replaced already."""
    for by, own in held:
        left = tuple(span for span in own if not _lies_within(span, standing))
        if left or not own:
            yield by, left


def _lies_within(span: Span, standing: Sequence[Span]) -> bool:
    """Say whether one of the placeholders, which are sorted and apart, holds a span."""
    index = bisect_right(standing, span.start, key=attrgetter("start")) - 1
    return index >= 0 and standing[index].contains(span)


def _regions(
    text: str, taken: tuple[Span, ...], standing: Sequence[Span]
) -> tuple[Span, ...]:
    """Join spans with light punctuation between them, and placeholders they touch."""
    ends = [span.end for span in taken]
    touched = []
    for placeholder in standing:
        following = bisect_right(ends, placeholder.start)
        if following < len(taken) and taken[following].start < placeholder.end:
            touched.append(placeholder)
    return join(text, [*taken, *touched])
