"""Which passages are of one document."""

from __future__ import annotations

from collections.abc import Sequence

from sdrag.vocabulary import Passage

__all__ = ["by_document"]


def by_document(passages: Sequence[Passage]) -> list[list[int]]:
    """Return the places of the passages of each document; one of none is its own."""
    documents: dict[tuple[str, str | int], list[int]] = {}
    for place, passage in enumerate(passages):
        known = passage.document_id
        name = ("passage", place) if known is None else ("document", known)
        documents.setdefault(name, []).append(place)
    return list(documents.values())
