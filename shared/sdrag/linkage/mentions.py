"""
What was found in each document, from a detector or handed in.

CLAM's extractor gives `[original, normalized, type, relevance]` (Listing 4.1); a
detector gives spans. Both become a `Found`. A detector does not say how telling a find
is, but how sure it is of it, so its confidence is taken for the relevance; how much the
thing itself tells is left to its type's weight and its rarity. Where finds of a
detector overlap or nest, the longest is kept. Where a detector has read the corpus,
what its words say of a find's type is added, and descriptions no detector looks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdrag.errors import UsageError
from sdrag.linkage.context_types import descriptions, type_in_context
from sdrag.linkage.entity_schema import Schema, canonical_type
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential, Mention, Passage

__all__ = ["Found", "Mentions", "found_in", "longest"]


@dataclass(frozen=True, slots=True, repr=False)
class Found(Confidential):
    """
    An entity's appearance in a document.

    Args:
        form: As it is written in the text.
        type: Of the schema.
        relevance: How telling it is there, from 0 to 1.
        normalized: What an extractor says it means; empty where nobody said.
    """

    form: str
    type: str
    relevance: float = 1.0
    normalized: str = ""

    def __post_init__(self) -> None:
        if not fold_text(self.form):
            raise UsageError(
                "An entity has no form.",
                hint="Give the entity as it is written in the text.",
            )
        if not 0.0 <= self.relevance <= 1.0:
            raise UsageError(f"`relevance` must be from 0 to 1, got {self.relevance}.")

    def __repr__(self) -> str:
        return f"Found({len(self.form)} characters, type={self.type!r})"


_DIGITS = 4
"""What holds so many digits is an identifier, though a detector take it for a name."""

Mentions = (
    Mapping[str, Sequence[Found | Mention | Sequence[Any]]]
    | Sequence[Sequence[Found | Mention | Sequence[Any]]]
)
"""For each document, by id or in order, what was found in it: `Found`, a detector's
`Mention`, or the thesis's `[original, normalized, type, relevance]`."""


def found_in(
    documents: Sequence[Passage], mentions: Mentions, weights: Mapping[str, float]
) -> list[tuple[Found, ...]]:
    """
    Return what was found in each document, in order.

    Args:
        documents: The corpus.
        mentions: For each of them.
        weights: The schema in force, for the names of its types.

    Raises:
        UsageError: A document has no entry, or an entry cannot be read.
    """
    if isinstance(mentions, Mapping):
        missing = sum(document.id not in mentions for document in documents)
        if missing:
            raise UsageError(
                f"`mentions` has no entry for {missing} documents.",
                hint="Give an empty list where nothing was found.",
            )
        rows = [mentions[document.id] for document in documents]
    else:
        rows = list(mentions)
    if len(rows) != len(documents):
        raise UsageError(
            f"`mentions` has {len(rows)} lists for {len(documents)} documents.",
            hint="Give one list for each document, empty where nothing was found.",
        )
    read = any(isinstance(entry, Mention) for row in rows for entry in row)
    return [
        (
            *_found(document.text, row, weights),
            *(_described(document.text, weights) if read else ()),
        )
        for document, row in zip(documents, rows, strict=True)
    ]


def longest(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Keep, of mentions that overlap, the longest; then the earliest."""
    taken: list[Mention] = []
    for mention in sorted(
        mentions, key=lambda item: (-len(item.span), item.span, item.type)
    ):
        if not any(mention.span.overlaps(other.span) for other in taken):
            taken.append(mention)
    return tuple(sorted(taken, key=lambda item: item.span))


def _found(
    text: str,
    row: Sequence[Found | Mention | Sequence[Any]],
    weights: Mapping[str, float],
) -> Iterable[Found]:
    least = weights.least if isinstance(weights, Schema) else 0.0
    spans = longest(
        entry
        for entry in row
        if isinstance(entry, Mention) and entry.confidence >= least
    )
    for entry in (*(e for e in row if not isinstance(e, Mention)), *spans):
        if isinstance(entry, Mention):
            if fold_text(entry.span.of(text)):
                yield _of_span(text, entry, weights)
        elif isinstance(entry, Found):
            yield entry
        else:
            yield _of_listing(entry, weights)


def _described(text: str, weights: Mapping[str, float]) -> Iterable[Found]:
    """Return the descriptions that no detector looks for, where they have a type."""
    for mention in descriptions(text):
        sure = not isinstance(weights, Schema) or mention.confidence >= weights.least
        if sure and mention.type in weights:
            yield Found(mention.span.of(text), mention.type, mention.confidence)


def _of_span(text: str, mention: Mention, weights: Mapping[str, float]) -> Found:
    form = mention.span.of(text).strip()
    type_ = canonical_type(mention.type, weights)
    if type_ == "NAME" and sum(map(str.isdigit, form)) >= _DIGITS:
        type_ = canonical_type("ID", weights)
    else:
        type_ = type_in_context(text, mention.span, type_, weights)
    return Found(form, type_, mention.confidence)


def _of_listing(entry: Sequence[Any], weights: Mapping[str, float]) -> Found:
    try:
        form, normalized, type_, relevance = entry
        return Found(
            str(form),
            canonical_type(str(type_), weights),
            float(relevance),
            str(normalized or ""),
        )
    except (TypeError, ValueError):
        raise UsageError(
            "An entity cannot be read.",
            hint="Give [original, normalized, type, relevance].",
        ) from None
