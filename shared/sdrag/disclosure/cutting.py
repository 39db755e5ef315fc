"""
Replacing what is withheld: a pure function of a text and its closed spans.

All spans are replaced at once. What constraints take of the same stretch becomes one
replacement, and a span that touches a placeholder which stands in the text already
takes all of it along, so that no placeholder is left in pieces.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from sdrag.disclosure.placeholders import any_of
from sdrag.spans import merge, splice
from sdrag.vocabulary import Confidential, Span

__all__ = ["Cut", "Taken", "cut"]

Taken = tuple[tuple[frozenset[str], tuple[Span, ...]], ...]
"""The ids of constraints, and the spans that all of them take; none: the text whole."""


@dataclass(frozen=True, slots=True, repr=False)
class Cut(Confidential):
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
) -> Cut:
    """
    Cut out of a text what constraints withhold.

    Args:
        text: Unredacted.
        taken: What is taken from it, by the constraints that take it.
        applied: The ids of the constraints that are enforced, in their order.
        placeholders: What stands in their place, by constraint id.
        marks: Other placeholders that may stand in the text already.
    """
    enforced = frozenset(applied)
    held = [(by & enforced, own) for by, own in taken if not by.isdisjoint(enforced)]
    standing = _standing(text, (*placeholders.values(), *marks)) if held else []
    if standing:
        held = list(_beside(held, standing))
    if not held:
        return Cut(text)
    taking = frozenset().union(*(by for by, _ in held))
    names = tuple(name for name in applied if name in taking)
    if not all(own for _, own in held):
        return Cut(None, names, 1)
    spans = merge({span for _, own in held for span in own})
    whole = _whole(text, spans, standing)
    said = {placeholders[name] for name in names}
    if len(said) == 1:
        only = said.pop()
        return Cut(splice(text, whole, lambda _: only), names, len(whole))
    apart = {
        name: merge(span for by, own in held if name in by for span in own)
        for name in names
    }

    def instead(span: Span) -> str:
        return next(
            placeholders[name] for name in names if _takes_part(apart[name], span)
        )

    return Cut(splice(text, whole, instead), names, len(whole))


def _takes_part(apart: Sequence[Span], span: Span) -> bool:
    """Say whether one of the spans, which are sorted and apart, overlaps `span`."""
    place = bisect_left(apart, span.end, key=attrgetter("start")) - 1
    return place >= 0 and apart[place].end > span.start


def _standing(text: str, marks: Sequence[str]) -> list[Span]:
    """Return where placeholders stand in a text."""
    pattern = any_of(tuple(dict.fromkeys(marks)))
    return [Span(*match.span()) for match in pattern.finditer(text)]


def _beside(
    held: Iterable[tuple[frozenset[str], tuple[Span, ...]]], standing: Sequence[Span]
) -> Iterator[tuple[frozenset[str], tuple[Span, ...]]]:
    """Leave out what lies within a placeholder: it is replaced already."""
    for by, own in held:
        left = tuple(s for s in own if not any(m.contains(s) for m in standing))
        if left or not own:
            yield by, left


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
