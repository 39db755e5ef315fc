"""A text in which stretches are marked in colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib.resources import files
from itertools import pairwise

from sdrag.vocabulary import Span

COLOURS = 20
"""The style sheet tells so many groups apart; each mark also bears its number."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch to be marked: in the colour of its group, hidden or considered."""

    span: Span
    group: int
    title: str
    hidden: bool = True


def marked(text: str, marks: Sequence[Mark]) -> str:
    """
    Return the text as HTML, with a `mark` element around each marked stretch.

    It is unredacted: what comes out is for the eyes of who may see it.
    """
    pieces = (
        (escape(span.of(text)), over) for span, over in stretches(len(text), marks)
    )
    return "".join(_mark(piece, over) if over else piece for piece, over in pieces)


@lru_cache(maxsize=1)
def style() -> str:
    """Return the style sheet of marks."""
    return files(__package__).joinpath("marked.css").read_text(encoding="utf-8")


def stretches(length: int, marks: Sequence[Mark]) -> Iterator[tuple[Span, list[Mark]]]:
    """Yield the stretches between the ends of marks, each with what covers it."""
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


def legend(group: int, name: str) -> str:
    """Return the name of a group in its colour, with its number."""
    shown = f'class="hidden c{group % COLOURS}" data-by="{group + 1}"'
    return f"<mark {shown}>{escape(name)}</mark>"


def _mark(piece: str, marks: Sequence[Mark]) -> str:
    """Mark a stretch with the numbers of all that is on it, in two of their colours."""
    hidden = [mark for mark in marks if mark.hidden]
    shown = sorted(hidden or marks, key=lambda mark: -len(mark.span))
    title = escape("\n".join(dict.fromkeys(mark.title for mark in shown)))
    groups = list(dict.fromkeys(mark.group for mark in shown))
    kind = f"{'hidden' if hidden else 'left'} c{groups[0] % COLOURS}"
    if hidden and len(groups) > 1:
        kind += f" also d{groups[1] % COLOURS}"
    numbers = ",".join(str(group + 1) for group in sorted(groups))
    return f'<mark class="{kind}" data-by="{numbers}" title="{title}">{piece}</mark>'
