"""
Which passages are of one document, and their texts in blocks for a model.

A block is the chunks of one document, concatenated up to a token budget (equation 8).
It knows which stretch of it came from which passage, so a span found in the block is
given back to its passages, also when a quotation runs over the seam of two chunks. A
passage longer than the budget is cut between sentences into several blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sdrag.effects.tokens import CHARACTERS_PER_TOKEN
from sdrag.text.folding import is_boundary
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Passage, Span

__all__ = ["Block", "blocks", "by_document", "with_documents"]


def by_document(passages: Sequence[Passage]) -> list[list[int]]:
    """Return the indices of the passages of each document; one of none is its own."""
    documents: dict[tuple[str, str | int], list[int]] = {}
    for index, passage in enumerate(passages):
        known = passage.document_id
        name = ("passage", index) if known is None else ("document", known)
        documents.setdefault(name, []).append(index)
    return list(documents.values())


def with_documents(
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
                    if passage.metadata.get(key)
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


def blocks(passages: Sequence[Passage], token_budget: int) -> tuple[Block, ...]:
    """
    Cut the passages into blocks, document by document, in the order given.

    Args:
        passages: Of any documents.
        token_budget: The most tokens a block may hold.
    """
    limit = token_budget * CHARACTERS_PER_TOKEN
    return tuple(
        block
        for group in by_document(passages)
        for block in _packed(passages, group, limit)
    )


def _packed(
    passages: Sequence[Passage], group: Sequence[int], limit: int
) -> Iterator[Block]:
    text = ""
    pieces: list[Piece] = []
    for index in group:
        for span in _cuts(passages[index].text, limit):
            if pieces and len(text) + len(_SEAM) + len(span) > limit:
                yield Block(text, tuple(pieces))
                text, pieces = "", []
            text += _SEAM if pieces else ""
            pieces.append(Piece(index, span, len(text)))
            text += span.of(passages[index].text)
    if pieces:
        yield Block(text, tuple(pieces))


def _cuts(text: str, limit: int) -> Iterator[Span]:
    """Cut a text into spans of at most `limit`, between sentences or else words."""
    if not text:
        return
    start = 0
    ends = [span.end for span in sentences(text)] if len(text) > limit else []
    position = 0
    while len(text) - start > limit:
        fitting = start
        while position < len(ends) and ends[position] <= start + limit:
            fitting = ends[position]
            position += 1
        end = fitting if fitting > start else _between_words(text, start, limit)
        yield Span(start, end)
        start = end
    yield Span(start, len(text))


def _between_words(text: str, start: int, limit: int) -> int:
    """Return the last place within the limit that cuts no word, or the limit."""
    end = start + limit
    while end > start and not is_boundary(text, end):
        end -= 1
    return end if end > start else start + limit
