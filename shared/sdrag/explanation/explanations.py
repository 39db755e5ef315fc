"""Who found a span and why a text is redacted; no text is in any repr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from html import escape
from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from sdrag.vocabulary import Confidential, Span

FOUND_BY: Mapping[str, str] = MappingProxyType(
    {
        "type": "a detector found a mention of the type {type}",
        "checked": "its form alone shows the type {type}",
        "pattern": "a pattern of the policy matches it",
        "named": "the constraint names it",
        "cue": "its sentence speaks of what the constraint asks for",
        "scored": "the networks took it for what the constraint means{share}",
        "again": "a name or a rare word that the networks found in the document{share}",
        "encoded": "decoded, it is what was asked for",
        "model": "the model quoted it",
        "register": "the same was found elsewhere in the document",
        "kept": "the policy lets it stay",
        "everything": "the constraint forbids everything",
        "not-understood": "nobody understands the constraint, so all is withheld",
        "other-language": "it is in a language that the rules do not read",
        "undecided": "the constraint could not be decided on this text",
    }
)
"""What each code of a cause means; the fields are those of `Cause`."""

_SHARE_RIGHT = ((0.8, 0.58), (0.7, 0.33), (0.5, 0.17), (0.0, 0.13))
"""From a score of the networks on, the share of findings that were right on the
development articles: `python -m benchmarks.reliability --fit`."""
_NETWORKS = frozenset({"scored", "again"})


def share_right(by: str, score: float) -> float | None:
    """Return the share of findings of a score that are right; `None` for a rule's."""
    if by not in _NETWORKS:
        return None
    return next(share for least, share in _SHARE_RIGHT if score >= least)


@dataclass(frozen=True, slots=True)
class Cause:
    """
    Who found a span.

    Args:
        by: A key of `FOUND_BY`.
        type: Of the mention, such as `PERSON`; empty where no type was asked for.
        confidence: The share of such findings that were right on articles, from 0 to 1.
            `None` unless the trained networks found it: a rule has no such number.
    """

    by: str
    type: str = ""
    confidence: float | None = None

    def __str__(self) -> str:
        words = FOUND_BY.get(self.by, "found by {by}")
        kind, share = self.type or "that was asked for", ""
        if self.confidence is not None:
            tenths = max(1, round(10 * self.confidence))
            share = f"; about {tenths} in 10 such are right"
        return words.format(by=self.by, type=kind, share=share)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ExplainedSpan:
    """
    A stretch of text that a constraint hides, or that was considered and left.

    Args:
        span: In the text that was explained.
        constraint_id: The constraint.
        causes: Who found it: rules first, then networks, the surest first.
    """

    span: Span
    constraint_id: str
    causes: tuple[Cause, ...]

    @property
    def why(self) -> str:
        """Say in words who found it."""
        return "; ".join(map(str, self.causes))

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, with the surest cause as `by` and `confidence`."""
        first = self.causes[0]
        return {
            "start": self.span.start,
            "end": self.span.end,
            "constraint": self.constraint_id,
            **first.as_dict(),
            "causes": [cause.as_dict() for cause in self.causes],
        }


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Confidential):
    """
    Why a text is redacted as it is.

    Args:
        id: Of the passage.
        text: Unredacted.
        constraints: The words of the constraints that hold for it, by their ids.
        spans: What is hidden, in the order of the text.
        left: What was considered and is shown.
        released: What leaves; `None` when the whole passage is withheld.
        reason: Why it is withheld, or decided without the model, as a code.
    """

    id: str
    text: str
    constraints: Mapping[str, str]
    spans: tuple[ExplainedSpan, ...]
    left: tuple[ExplainedSpan, ...] = ()
    released: str | None = None
    reason: str = ""

    def __repr__(self) -> str:
        state = "withheld" if self.released is None else f"{len(self.spans)} spans"
        return f"Explanation({len(self.text)} characters, {state})"

    def by_constraint(self) -> dict[str, list[ExplainedSpan]]:
        """Return what each constraint hides, in the order of the policy."""
        spans: dict[str, list[ExplainedSpan]] = {name: [] for name in self.constraints}
        for explained in self.spans:
            spans[explained.constraint_id].append(explained)
        return {name: held for name, held in spans.items() if held}

    def as_dict(self) -> dict[str, Any]:
        """Return plain data: ids, offsets and causes, no text."""
        return {
            "id": self.id,
            "spans": [explained.as_dict() for explained in self.spans],
            "left": [explained.as_dict() for explained in self.left],
            "withheld": self.released is None,
            "reason": self.reason,
        }

    def marks(self, groups: Mapping[str, int]) -> Iterator[Mark]:
        """
        Yield what is to be marked.

        Args:
            groups: The number of each constraint.
        """
        for hidden, spans in ((True, self.spans), (False, self.left)):
            for explained in spans:
                name = explained.constraint_id
                title = f"{name}: {explained.why}"
                if not hidden:
                    kept = explained.causes[0].by == "kept"
                    link = "since" if kept else "although"
                    title = f"{name}: shown, {link} {explained.why}"
                yield Mark(explained.span, groups[name], title, hidden)

    def _repr_html_(self) -> str:
        """Show the text in colour, in a notebook alone: this is the raw text."""
        groups = {name: number for number, name in enumerate(self.constraints)}
        rows = "".join(
            f"<li>{legend(groups[name], name)} "
            f"{escape(self.constraints[name])} ({len(spans)})</li>"
            for name, spans in self.by_constraint().items()
        )
        is_withheld = self.released is None
        state = f"<p>Withheld: {escape(self.reason)}</p>" if is_withheld else ""
        return (
            f"<style>{style()}</style><ul>{rows}</ul>{state}"
            f'<div class="marked">{marked(self.text, list(self.marks(groups)))}</div>'
        )


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
