"""
Texts to be read: passages, the strings of their metadata, and blocks for a model.

A title or an author is disclosed like any sentence, so the strings among the allowed
metadata are read as texts of their own, next to the passages they belong to. A string
that several passages of one document share under the same key and constraints is one
text, and so is a number. What is no text but may hold a form, an id or a key that is a
number, is a leaf. No value of another type leaves.

A block is the chunks of one document, concatenated up to a token budget (equation 8).
It knows which stretch of it came from which passage, so a span found in the block is
given back to its passages, also when a quotation runs over the seam of two chunks. A
passage longer than the budget is cut between sentences into several blocks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeGuard

from sdrag.disclosure.plain_values import Plain, copy_plain, find_labelled, spell
from sdrag.effects.tokens import CHARACTERS_PER_TOKEN
from sdrag.policy import MetadataSection, applies
from sdrag.text import word_set
from sdrag.text.cells import label_words
from sdrag.text.nested import is_given
from sdrag.text.sentences import windows
from sdrag.text.spans import shift
from sdrag.vocabulary import Confidential, Constraint, Passage, Span, is_unnamed

LAYER_KEY = "sdrag_layer"
"""The metadata key of a summary's layer; 0 is that of the chunks."""


def by_document(passages: Sequence[Passage]) -> list[list[int]]:
    """Return the indices of the passages of each document; one of none is its own."""
    documents: dict[tuple[str, str | int], list[int]] = {}
    for index, passage in enumerate(passages):
        known = passage.document_id
        name = ("passage", index) if known is None else ("document", known)
        documents.setdefault(name, []).append(index)
    return list(documents.values())


def name_documents(
    passages: Sequence[Passage], keys: Sequence[str]
) -> tuple[Passage, ...]:
    """Name the documents of passages that name none, by the first key they carry."""
    return tuple(
        passage
        if passage.document_id is not None
        else replace(
            passage,
            document_id=next(
                (
                    str(passage.metadata[key])
                    for key in keys
                    if is_given(passage.metadata.get(key))
                ),
                None,
            ),
        )
        for passage in passages
    )


_SEAM = "\n\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a passage: `span` of the passage is at `offset` in the block."""

    index: int
    span: Span
    offset: int


@dataclass(frozen=True, slots=True, repr=False)
class Block(Confidential):
    """Text for one prompt, and where each part of it came from."""

    text: str
    pieces: tuple[Piece, ...]

    def indices(self) -> tuple[int, ...]:
        """Return the passages it holds, each once."""
        return tuple(dict.fromkeys(piece.index for piece in self.pieces))

    def back(self, span: Span) -> Iterator[tuple[int, Span]]:
        """Yield the passage and the span in it for each part of a block's span."""
        for piece in self.pieces:
            start = max(span.start, piece.offset)
            end = min(span.end, piece.offset + len(piece.span))
            if start < end:
                shift = piece.span.start - piece.offset
                yield piece.index, Span(start + shift, end + shift)

    def split(self, size: int) -> Iterator[Block]:
        """Yield blocks of so many of its pieces each."""
        for first in range(0, len(self.pieces), size):
            pieces = self.pieces[first : first + size]
            start, last = pieces[0].offset, pieces[-1]
            moved = (replace(piece, offset=piece.offset - start) for piece in pieces)
            yield Block(self.text[start : last.offset + len(last.span)], tuple(moved))

    def cut(self, tokens: int) -> Iterator[Block]:
        """Yield blocks of at most so many tokens; of a block of one piece."""
        (piece,) = self.pieces
        for span in windows(self.text, tokens * CHARACTERS_PER_TOKEN):
            place = shift(span, piece.span.start)
            yield Block(span.of(self.text), (Piece(piece.index, place, 0),))


def cut_blocks(passages: Sequence[Passage], token_budget: int) -> tuple[Block, ...]:
    """Cut the passages into blocks, document by document, in the order given."""
    limit = token_budget * CHARACTERS_PER_TOKEN
    return tuple(
        block
        for group in by_document(passages)
        for block in _pack(passages, group, limit)
    )


def _pack(
    passages: Sequence[Passage], group: Sequence[int], limit: int
) -> Iterator[Block]:
    text = ""
    pieces: list[Piece] = []
    for index in group:
        for span in windows(passages[index].text, limit):
            if pieces and len(text) + len(_SEAM) + len(span) > limit:
                yield Block(text, tuple(pieces))
                text, pieces = "", []
            text += _SEAM if pieces else ""
            pieces.append(Piece(index, span, len(text)))
            text += span.of(passages[index].text)
    if pieces:
        yield Block(text, tuple(pieces))


@dataclass(frozen=True, slots=True, repr=False)
class Group(Confidential):
    """Texts for which the same constraints hold, and their indices among all."""

    text_indices: tuple[int, ...]
    texts: tuple[Passage, ...]
    constraints: tuple[Constraint, ...]


class Texts(Confidential):
    """What has to be read, and which constraints hold for what."""

    def __init__(
        self,
        passages: tuple[Passage, ...],
        constraints: tuple[Constraint, ...],
        section: MetadataSection,
    ) -> None:
        self.passages = passages
        self.constraints = constraints
        self.metadata: list[dict[str, Any]] = []
        self.verbatim: list[dict[str, Any]] = []
        for passage in passages:
            leaving = copy_plain(passage.metadata, section.keys)
            unread = {
                key: leaving.pop(key) for key in section.verbatim if key in leaving
            }
            self.metadata.append(leaving)
            self.verbatim.append(unread)
        self.all = [_of_a_document(passage) for passage in passages]
        self.applied = self._applied()
        self.labels: dict[int, str] = {}
        """The keys of values that say little without them, by the text's index."""
        self.kinds: dict[int, str] = {}
        """What a text of the metadata is, with its key if that is read along."""
        self.string_indices = self._with_strings()
        self.leaves = [
            _leaves(passage, metadata)
            for passage, metadata in zip(passages, self.metadata, strict=True)
        ]

    def __repr__(self) -> str:
        return f"Texts({len(self.passages)} passages, {len(self.all)} texts)"

    def is_technical(self, text_index: int) -> bool:
        """Say whether a text is of the metadata: a UUID, a digest or an ISO time."""
        value = self.all[text_index].text
        if text_index < len(self.passages) or _OPAQUE.fullmatch(value):
            return text_index >= len(self.passages)
        with suppress(ValueError):
            datetime.fromisoformat(value)
            return True
        return False

    def is_number(self, text_index: int) -> bool:
        """Say whether a text is a number: without its key it says nothing."""
        return self.kinds.get(text_index, "").startswith("number")

    def groups(self, wanted: Mapping[int, Collection[str]]) -> tuple[Group, ...]:
        """Return texts by the constraints they are read for; none, none."""
        rules = {rule.id: rule for rule in self.constraints}
        text_indices: dict[tuple[str, ...], list[int]] = {}
        for text_index, names in wanted.items():
            if asked := tuple(n for n in self.applied[text_index] if n in names):
                text_indices.setdefault(asked, []).append(text_index)
        return tuple(
            Group(
                text_indices=tuple(indices),
                texts=tuple(self.all[text_index] for text_index in indices),
                constraints=tuple(rules[name] for name in asked),
            )
            for asked, indices in text_indices.items()
        )

    def _applied(self) -> list[tuple[str, ...]]:
        """Return the ids of the constraints that hold for each text, in order."""
        limited = [rule for rule in self.constraints if rule.where]
        every = tuple(rule.id for rule in self.constraints)
        if not limited:
            return [every] * len(self.all)
        return [
            tuple(rule.id for rule in self.constraints if applies(rule, text.metadata))
            for text in self.all
        ]

    def _with_strings(self) -> list[dict[tuple[str, str], int]]:
        """
        Add the metadata's strings and numbers, each by its key and how it is spelt.

        Returns:
            For each passage, where they are.
        """
        string_indices: list[dict[tuple[str, str], int]] = []
        shared: dict[tuple[str | None, str, str, str, tuple[str, ...]], int] = {}
        for passage, metadata, applied in zip(
            tuple(self.all), self.metadata, tuple(self.applied), strict=True
        ):
            places: dict[tuple[str, str], int] = {}
            for label, leaf in _split_leaves(metadata)[0]:
                kind, value = "value" if _is_text(leaf) else "number", spell(leaf)
                spoken = label if _tells_by_label(leaf) else ""
                group = (passage.document_id, kind, spoken, value, applied)
                if group not in shared:
                    shared[group] = index = len(self.all)
                    self.kinds[index] = f"{kind} {spoken}".rstrip()
                    if spoken:
                        self.labels[index] = spoken
                    self.all.append(
                        replace(passage, id=f"{passage.id}#", text=value, score=None)
                    )
                    self.applied.append(applied)
                places[label, value] = shared[group]
            string_indices.append(places)
        return string_indices


def _leaves(passage: Passage, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the id, where the host gave one, and how every plain value is spelt."""
    ids = () if is_unnamed(passage) else (passage.id,)
    plain_values = (spell(leaf) for leaf in _split_leaves(metadata)[1])
    return tuple(dict.fromkeys((*ids, *plain_values)))


def _is_text(leaf: str | float | bool | None) -> TypeGuard[str]:  # noqa: FBT001 -- any
    return isinstance(leaf, str)


def _is_number(leaf: Plain) -> bool:
    return isinstance(leaf, (int, float)) and not isinstance(leaf, bool)


def _split_leaves(
    metadata: Mapping[str, Any],
) -> tuple[list[tuple[str, Plain]], list[Plain]]:
    """Return what is read as texts, numbers first, each with its key; and the rest."""
    labelled = find_labelled(metadata)
    many = Counter(label for label, leaf in labelled if _is_number(leaf))
    strings: list[tuple[str, Plain]] = []
    numbers: list[tuple[str, Plain]] = []
    rest: list[Plain] = []
    for label, leaf in labelled:
        if _is_text(leaf):
            strings.append((label, leaf))
        elif _is_number(leaf) and _may_tell(label) and many[label] <= _MOST_NUMBERS:
            numbers.append((label, leaf))
        else:
            rest.append(leaf)
    return numbers + strings, rest


def _may_tell(label: str) -> bool:
    """Say whether a number under a key may be of somebody: no place in a file is."""
    words = [word for word in label_words(label).lower().split() if word != "number"]
    return bool(words) and words[-1] not in _COUNTERS


def _tells_by_label(leaf: Plain) -> bool:
    """Say whether its key tells what it counts: a number, a short value of digits."""
    if not isinstance(leaf, str):
        return True
    return len(leaf) <= _BRIEF and any(map(str.isdigit, leaf))


def _of_a_document(passage: Passage) -> Passage:
    """Let a passage of no known document be one, so its metadata is read with it."""
    if passage.document_id is not None:
        return passage
    return replace(passage, document_id=f"passage {passage.id}")


_BRIEF = 40
"""The most characters of a value that says little without its key."""
_COUNTERS = word_set(
    "bytes chunk columns count distance epoch index length line lines offset page pages"
    " position rank row rows score similarity timestamp tokens version"
)
"""What loaders, splitters and stores count."""
_MOST_NUMBERS = 64
"""The most numbers under one key; more are an embedding, and say nothing."""
_OPAQUE = re.compile(
    r"(?:urn:uuid:)?\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?"
    r"|(?:[a-z0-9-]{1,10}[:=-])?[0-9a-f]{32,128}",
    re.IGNORECASE | re.ASCII,
)
