"""
Replacing what is withheld: a pure function of a text and its closed spans.

All spans are replaced at once. What constraints take of the same stretch becomes one
replacement, and a span that touches a placeholder which is in the text already
takes all of it along, so that no placeholder is left in pieces.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Self

from sdrag.disclosure.placeholders import any_of
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
        together: What all of them take, from one engine or several, joined where only
            whitespace is between; none: the text whole. Missing where it is not known.
    """

    names: frozenset[str]
    groups: Callable[[], Sequence[CutGroup]]
    together: tuple[tuple[Span, ...], ...] | None = None

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
    placeholders: Mapping[str, str],
    marks: Sequence[str] = (),
) -> RedactedText:
    """
    Cut out of a text what constraints withhold.

    Args:
        text: Unredacted.
        taken: What is taken from it, by the constraints that take it.
        applied: The ids of the constraints that are enforced, in their order.
        placeholders: What is in their place, by constraint id.
        marks: Other placeholders that may be in the text already.
    """
    enforced = frozenset(applied)
    if taken.names.isdisjoint(enforced):
        return RedactedText(text)
    standing = _standing(text, (*placeholders.values(), *marks))
    if not standing and taken.together is not None and taken.names <= enforced:
        names = tuple(filter(taken.names.__contains__, applied))
        if len(set(map(placeholders.__getitem__, names))) == 1:
            return _cut_at_once(text, taken.together, names, placeholders[names[0]])
    held = [
        (by & enforced, own)
        for by, own in taken.groups()
        if not by.isdisjoint(enforced)
    ]
    return _cut_by_group(
        text,
        list(_outside_placeholders(held, standing)) if standing else held,
        applied,
        placeholders,
        standing,
    )


def _cut_at_once(
    text: str,
    together: Sequence[tuple[Span, ...]],
    names: tuple[str, ...],
    placeholder: str,
) -> RedactedText:
    """Cut what all constraints take; most of it was joined when it was located."""
    if not all(together):
        return RedactedText(None, names, 1)
    spans, *others = together
    if any(other != spans for other in others):
        spans = merge(chain(*together), text)
    return RedactedText(splice(text, spans, lambda _: placeholder), names, len(spans))


def _cut_by_group(
    text: str,
    held: Sequence[CutGroup],
    applied: Sequence[str],
    placeholders: Mapping[str, str],
    standing: Sequence[Span],
) -> RedactedText:
    """Cut what some constraints take, or what has placeholders of several kinds."""
    if not held:
        return RedactedText(text)
    taking = frozenset().union(*(by for by, _ in held))
    names = tuple(name for name in applied if name in taking)
    if not all(own for _, own in held):
        return RedactedText(None, names, 1)
    whole = _whole(text, merge({span for _, own in held for span in own}), standing)
    said = {placeholders[name] for name in names}
    if len(said) == 1:
        only = said.pop()
        return RedactedText(splice(text, whole, lambda _: only), names, len(whole))
    apart = {
        name: merge(span for by, own in held if name in by for span in own)
        for name in names
    }

    def instead(span: Span) -> str:
        return next(
            placeholders[name] for name in names if _takes_part(apart[name], span)
        )

    return RedactedText(splice(text, whole, instead), names, len(whole))


def _takes_part(apart: Sequence[Span], span: Span) -> bool:
    """Say whether one of the spans, which are sorted and apart, overlaps `span`."""
    index = bisect_left(apart, span.end, key=attrgetter("start")) - 1
    return index >= 0 and apart[index].end > span.start


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


def _whole(
    text: str, found: tuple[Span, ...], standing: Sequence[Span]
) -> tuple[Span, ...]:
    """Join what whitespace parts; a span that touches a placeholder takes it along."""
    ends = [span.end for span in found]
    touched = []
    for mark in standing:
        next_one = bisect_right(ends, mark.start)
        if next_one < len(found) and found[next_one].start < mark.end:
            touched.append(mark)
    return merge([*found, *touched], text)
