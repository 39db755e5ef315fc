"""
Documents cut into chunks, where a caller brings none.

The chunks of a document are its text again when they are joined: every character is in
one of them, so an offset in a chunk points into the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage

__all__ = ["chunks_of"]

CHUNK_CHARACTERS = 1000
"""As long as the chunks of most indexes are."""


def chunks_of(document: Passage, characters: int = CHUNK_CHARACTERS) -> list[Passage]:
    """
    Cut a document between sentences.

    Args:
        document: Its id names the chunks: `ID:1`, `ID:2` and so on.
        characters: The most of a chunk; one sentence may be longer.
    """
    ends = list(_ends(document.text, characters))
    return [
        replace(document, id=f"{document.id}:{number}", text=document.text[start:end])
        for number, (start, end) in enumerate(
            zip([0, *ends], ends, strict=False), start=1
        )
    ]


def _ends(text: str, characters: int) -> Iterator[int]:
    start = previous = 0
    for sentence in sentences(text):
        if sentence.end - start > characters and previous > start:
            yield previous
            start = previous
        previous = sentence.end
    if text:
        yield len(text)
