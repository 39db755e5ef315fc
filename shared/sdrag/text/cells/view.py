"""
A structure written as lines of `label: value`, and the way back.

Rules and networks know forms and prose, and no brackets, tags or heads of columns that
stand far above. So they are shown each value on a line of its own behind its label,
with escapes undone. What they find in a value is found where that stands. A label says
what a value is; only where it is a value itself, as a name is that a sum stands under,
is what was found in it found in the key.
"""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TypeVar

from sdrag.text import word_set
from sdrag.text.cells.cell import ENTITY, ESCAPE, NAMING, Cell, Layout
from sdrag.vocabulary import Confidential, Finding, Mention, Span

F = TypeVar("F", Finding, Mention)

_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_APART = re.compile(r"[\s_.:/-]+")
_GENERIC = word_set(
    "name names id ids no number nr value values text type code line line1 line2 data"
    " item items entry entries first last full given display label title key"
    " year month day y m d date on"
)
"""Labels that say what a value is only with what they are in."""
_PARTS = word_set("first last middle given family")
_PEOPLE = word_set(
    "name names person people patient patients customer client user contact employee"
    " author owner guest member student pupil tenant applicant driver parent child"
)
"""Whoever has a first name and a last one."""
_PAIR = re.compile('""')
_ATOMS = {
    "double": ESCAPE,
    "single": ESCAPE,
    "markup": ENTITY,
    "doubled": _PAIR,
}
_KEYS = word_set("id ids pid uuid guid hash sha port serial epoch timestamp")
"""What machines count by: a number behind it is no telephone number."""
_LONGEST_LABEL, _LONGEST_CAPITALS = 60, 5


Piece = tuple[int, int, int, int]
"""Where a stretch is in the lines, from and to, and where in the text that was read."""


@dataclass(frozen=True, slots=True, repr=False)
class Label(Confidential):
    """
    A key before its value.

    Args:
        key: As it was read.
        span: Where it stands in the text that was read.
        path: The labels of what it is in.
        words: Where its words are in the lines, from and to.
    """

    key: str
    span: Span
    path: tuple[str, ...]
    words: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, repr=False)
class PlainView(Confidential):
    """
    A text as lines of `label: value`.

    Args:
        text: The lines.
        pieces: The stretches of values.
        labels: In order.
    """

    text: str
    pieces: tuple[Piece, ...]
    labels: tuple[Label, ...] = ()

    def origins(self, span: Span) -> Iterator[tuple[Span, Span]]:
        """Yield what of a span is of values: in the lines, and in the text read."""
        last: tuple[Span, Span] | None = None
        for start, end, first, final in self._touched(span):
            here = Span(max(start, span.start), min(end, span.end))
            there = Span(first, final)
            if end - start == final - first:
                there = Span(first + here.start - start, final - end + here.end)
            if last and (last[0].end, last[1].end) == (here.start, there.start):
                here = Span(last[0].start, here.end)
                there = Span(last[1].start, there.end)
            elif last:
                yield last
            last = here, there
        if last:
            yield last

    def trace(
        self, detections: Iterable[F], kind: Callable[[F], Hashable]
    ) -> Iterator[F]:
        """
        Yield what was found in the lines where it stands in the text that was read.

        `kind`: of what keys are counted together; nothing for what finds no keys.
        """
        in_labels: dict[Hashable, list[F]] = {}
        for each in detections:
            origins = [origin for _, origin in self.origins(each.span)]
            yield from (replace(each, span=origin) for origin in origins)
            if not origins and (kinds := kind(each)) is not None:
                in_labels.setdefault(kinds, []).append(each)
        for alike in in_labels.values():
            for key, weakest in self._find_keys(alike):
                yield replace(weakest, span=key)

    def _touched(self, span: Span) -> Iterator[Piece]:
        index = bisect_right(self.pieces, (span.start, len(self.text) + 1)) - 1
        for at in range(max(0, index), len(self.pieces)):
            if self.pieces[at][0] >= span.end:
                return
            if self.pieces[at][1] > span.start:
                yield self.pieces[at]

    def _find_keys(self, detections: Iterable[F]) -> Iterator[tuple[Span, F]]:
        """
        Yield the keys that are values themselves, as in `{"rosa": 3, "dmitri": 7}`.

        Field names are names and rare words too: `bill`, `jan`, `qty`. So a key is one
        if all of it was found for certain, or much beside it was found as well. Each
        comes with the least sure of what makes it one.
        """
        sure: dict[tuple[int, int], F] = {}
        for one in detections:
            for word in self._words_in(one.span):
                if word not in sure or sure[word].confidence < one.confidence:
                    sure[word] = one
        for label, share, once in self._rate(sure.keys()):
            weakest = min(
                (sure[word] for word in label.words), key=attrgetter("confidence")
            )
            if (
                weakest.confidence >= _CERTAIN
                or (weakest.confidence >= _SURE and share >= _HALF)
                or (once and share > _HALF)
            ):
                yield label.span, weakest

    def _rate(
        self, spans: AbstractSet[tuple[int, int]]
    ) -> Iterator[tuple[Label, float, bool]]:
        """
        Yield the labels of which all words were found.

        Each with the share of the keys beside it that were, and whether it stands there
        but once.
        """
        whole = [e for e in self.labels if len(e.key) > 1 and spans >= {*e.words}]
        often = Counter((each.path, each.key) for each in self.labels)
        beside = Counter(path for path, _ in often)
        taken = Counter(path for path, _ in {(each.path, each.key) for each in whole})
        for label in whole:
            share = taken[label.path] / beside[label.path]
            yield label, share, often[label.path, label.key] == 1

    def _words_in(self, span: Span) -> Iterator[tuple[int, int]]:
        """Yield the words of labels that are inside a span."""
        index = bisect_right(self.labels, span.start, key=lambda each: each.words[0][0])
        for at in range(max(0, index - 1), len(self.labels)):
            if self.labels[at].words[0][0] >= span.end:
                return
            for word in self.labels[at].words:
                if span.start <= word[0] and word[1] <= span.end:
                    yield word


_CERTAIN, _SURE, _HALF = 0.9, 0.7, 0.5
"""A full name or an address is found for certain; a first name surely; a rare word that
might be a name with less."""


def plain_view(layout: Layout) -> PlainView | None:
    """Return a structure as lines; nothing for a text that has none."""
    return _write(layout) if layout.is_hard else None


def label_words(label: str) -> str:
    """Return the words of a label: `dateOfBirth`, `DATE_OF_BIRTH`."""
    return " ".join(_APART.sub(" ", _HUMP.sub(" ", label)).split())


def _write(layout: Layout) -> PlainView:
    lines = _Lines(layout.text)
    key: Cell | None = None
    done = -1
    before: Cell | None = None
    for cell in layout.cells:
        if not cell.hard:
            gap = layout.text[done : cell.start] if done >= 0 else ""
            is_far = done < 0 or len(gap) > _LONGEST_GAP
            lines.add("\n\n" if lines.position and is_far else gap)
            lines.copy(cell)
        elif cell.role not in NAMING:
            tags = _goes_on(layout.text, before, cell)
            if tags is None:
                lines.begin()
                lines.label(write_lead(cell.label, cell.path), key)
            lines.add(tags or "")
            for decoded, origin, length in _undo(layout.text, cell):
                lines.add(decoded, origin, length)
            key = None
        elif cell.role == "key":
            if key is not None:  # what it names is no value
                lines.begin()
                lines.label(f"{label_words(lines.read(key)).capitalize()}: ", key)
            key = cell
        done, before = -1 if cell.hard else cell.end, cell
    for cell in layout.cells:
        if cell.hard and cell.role in NAMING and _may_tell(lines.read(cell), cell):
            lines.begin()
            lines.copy(cell)
    return PlainView("".join(lines.lines), tuple(lines.pieces), tuple(lines.labels))


def _goes_on(text: str, before: Cell | None, cell: Cell) -> str | None:
    """Return what parts two cells of one value, if tags within a line are between."""
    if before is None or before.role in NAMING or before.label != cell.label:
        return None
    gap = _INLINE.fullmatch(text, before.end, cell.start)
    return gap and (" " if any(map(str.isspace, _TAG.sub("", gap.group()))) else "")


_TAG = re.compile(
    r"</?(?:wbr|b|i|u|s|em|strong|span|font|mark|small|code|kbd|tt|q)\b[^<>]{0,200}>"
    r"|<!--[^<>]{0,200}-->",
    re.IGNORECASE,
)
_INLINE = re.compile(rf"\s*+(?:(?:{_TAG.pattern})\s*+)++", re.IGNORECASE)


class _Lines:
    """Lines as they are written, with where each piece came from."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: list[str] = []
        self.pieces: list[Piece] = []
        self.labels: list[Label] = []
        self.position = 0

    def read(self, cell: Cell) -> str:
        return self.text[cell.start : cell.end]

    def begin(self) -> None:
        """Leave a line blank: no value goes on in the next one."""
        self.add("\n\n" if self.position else "")

    def copy(self, cell: Cell) -> None:
        self.add(self.read(cell), cell.start, cell.end - cell.start)

    def add(self, text: str, origin: int = -1, length: int = 0) -> None:
        end = self.position + len(text)
        if origin >= 0 and text:
            self.pieces.append((self.position, end, origin, origin + length))
        self.lines.append(text)
        self.position = end

    def label(self, lead: str, key: Cell | None) -> None:
        """Add a label, and note where the words of its key stand in it."""
        words = label_words(self.read(key)).lower() if key else ""
        at = lead.lower().rfind(words)
        places = []
        for word in words.split() if at >= 0 else ():
            at = lead.lower().find(word, at)
            places.append((self.position + at, self.position + at + len(word)))
            at += len(word)
        if key and places:
            label = Label(self.read(key), key.span, key.path, tuple(places))
            self.labels.append(label)
        self.add(lead)


_LONGEST_GAP = 200
_FEWEST_DIGITS = 4
_CAPITALS = re.compile(r"(?<!\w)[^\W\d_a-z][^\W_]+,? [^\W\d_a-z]")
_PROGRAM = re.compile(r"[a-z$_][\w$.-]*|[A-Z][A-Z\d_.-]*")


def _may_tell(key: str, cell: Cell) -> bool:
    """Say whether a key may be a value, as an address under which a sum stands is."""
    if "@" in key or sum(map(str.isdigit, key)) >= _FEWEST_DIGITS:
        return True
    if cell.role == "code":  # a class of a page, or who it is of
        return _CAPITALS.search(key) is not None
    return not _PROGRAM.fullmatch(key)


def write_lead(label: str, path: Iterable[str] = ()) -> str:
    """Return what a line begins with: a label, with what it is in if it says little."""
    outer = [label_words(each) for each in path if each != label]
    label = label_words(label)
    if not label or len(label) > _LONGEST_LABEL:
        return ""
    if label.lower() in _PARTS and _PEOPLE.intersection(
        " ".join(outer).lower().split()
    ):
        label = f"{label} name"
    elif label.lower() in _GENERIC and outer:
        label = f"{outer[-1]} {label}"
    if " " in label or not label.isupper() or len(label) > _LONGEST_CAPITALS:
        label = label.capitalize()
    last = label.rpartition(" ")[2].lower()
    return f"{label.rstrip(':')}{':' if last in _KEYS else ': '}"


def _undo(text: str, cell: Cell) -> Iterator[tuple[str, int, int]]:
    """Yield what a value says, piece by piece, without escapes."""
    atoms = _ATOMS.get(cell.form)
    done = cell.start
    for match in atoms.finditer(text, cell.start, cell.end) if atoms else ():
        if done < match.start():
            yield text[done : match.start()], done, match.start() - done
        yield _say(match.group()), match.start(), len(match.group())
        done = match.end()
    if done < cell.end:
        yield text[done : cell.end], done, cell.end - done


def _say(atom: str) -> str:
    """Return the character that an escape stands for."""
    if atom[0] == "&":
        return html.unescape(atom)
    if atom[0] == '"':
        return '"'
    with suppress(ValueError):
        character: str = json.loads(f'"{atom}"')
        return character if not 0xD800 <= ord(character) <= 0xDFFF else "\ufffd"
    return atom[1:] if atom[1] != "x" else bytes.fromhex(atom[2:]).decode("latin-1")
