"""Which passages are of one document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sdrag.vocabulary import Passage

__all__ = ["by_document", "with_documents"]


def by_document(passages: Sequence[Passage]) -> list[list[int]]:
    """Return the places of the passages of each document; one of none is its own."""
    documents: dict[tuple[str, str | int], list[int]] = {}
    for place, passage in enumerate(passages):
        known = passage.document_id
        name = ("passage", place) if known is None else ("document", known)
        documents.setdefault(name, []).append(place)
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
