"""A text in which stretches are marked in colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib.resources import files
from itertools import pairwise

from sdrag.vocabulary import Span

__all__ = ["COLOURS", "Mark", "marked", "stretches", "style"]

COLOURS = 8
"""The style sheet tells so many groups apart; the ninth is coloured like the first."""


@dataclass(frozen=True, slots=True)
class Mark:
    """
    A stretch to be marked.

    Args:
        span: Where in the text.
        group: Its number from 0, which gives the colour. A stretch of one group alone
            has the class `onlyN`, by which a page can take its colour away.
        title: Shown when the pointer rests on it.
        hidden: Whether it is hidden, or was only considered.
    """

    span: Span
    group: int
    title: str
    hidden: bool = True


def marked(text: str, marks: Sequence[Mark]) -> str:
    """
    Return the text as HTML, with a `mark` element around each marked stretch.

    Args:
        text: Unredacted: what comes out is for the eyes of who may see it.
        marks: In any order; they may overlap.
    """
    return "".join(_pieces(text, marks))


@lru_cache(maxsize=1)
def style() -> str:
    """Return the style sheet of marks."""
    return files("sdrag.explanation").joinpath("marked.css").read_text(encoding="utf-8")


def stretches(length: int, marks: Sequence[Mark]) -> Iterator[tuple[Span, list[Mark]]]:
    """
    Yield the stretches of a text between the ends of marks, each with what covers it.

    Args:
        length: Of the text.
        marks: In any order; they may overlap.
    """
    starting: dict[int, list[Mark]] = {}
    ends = {0, length}
    for mark in marks:
        starting.setdefault(mark.span.start, []).append(mark)
        ends |= {mark.span.start, mark.span.end}
    open_marks: list[Mark] = []
    for start, end in pairwise(sorted(ends)):
        open_marks = [mark for mark in open_marks if mark.span.end > start]
        open_marks += starting.get(start, ())
        yield Span(start, end), open_marks


def _pieces(text: str, marks: Sequence[Mark]) -> Iterator[str]:
    for span, covering in stretches(len(text), marks):
        piece = escape(span.of(text))
        yield _mark(piece, covering) if covering else piece


def _mark(piece: str, marks: Sequence[Mark]) -> str:
    hidden = [mark for mark in marks if mark.hidden]
    shown = sorted(hidden or marks, key=lambda mark: -len(mark.span))
    groups = dict.fromkeys(mark.group for mark in shown)
    first = next(iter(groups))
    kind = "hidden" if hidden else "left"
    only = f" only{first}" if len(groups) == 1 else ""
    title = escape("\n".join(dict.fromkeys(mark.title for mark in shown)))
    return (
        f'<mark class="{kind}{only} c{first % COLOURS}" title="{title}">{piece}</mark>'
    )
