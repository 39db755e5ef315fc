"""
Detection over a large corpus, in batches, with a checkpoint that holds no text.

What a detector finds is kept as offsets and types, never as values, so an interrupted
run resumes without a copy of the corpus lying about. A checkpoint belongs to one input
and one policy; a changed one begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sdrag.effects.progress import batched
from sdrag.vocabulary import Mention, Passage, Span

__all__ = ["detect_all"]

_BATCH = 64

Row = tuple[Mention, ...] | None
"""What was found in a text; `None` where it could not be read."""


def detect_all(
    documents: Sequence[Passage],
    detect: Callable[[Sequence[str]], Iterator[Row]],
    checkpoint: Path,
    stamp: str,
    advance: Callable[[int], None],
) -> list[Row]:
    """
    Find the mentions in every document, resuming where a run was interrupted.

    Args:
        documents: The corpus.
        detect: Yields what is found in each text, in order.
        checkpoint: Where progress is kept; the caller removes it when done.
        stamp: Names the input and the policy.
        advance: Called with the number of documents that are done in addition.

    Returns:
        For each document its mentions, or `None` where it could not be read.
    """
    found = _resumed(checkpoint, stamp, documents)
    advance(len(found))
    checkpoint.touch(mode=0o600)
    with checkpoint.open("a" if found else "w", encoding="utf-8") as file:
        if not found:
            file.write(json.dumps({"stamp": stamp}) + "\n")
        left = [document.text for document in documents[len(found) :]]
        for rows in batched(detect(left), _BATCH):
            file.writelines(json.dumps(_plain(row)) + "\n" for row in rows)
            file.flush()
            found += rows
            advance(len(rows))
    return found


def _plain(row: Row) -> list[list[object]] | None:
    if row is None:
        return None
    return [[m.span.start, m.span.end, m.type, m.confidence] for m in row]


def _resumed(checkpoint: Path, stamp: str, documents: Sequence[Passage]) -> list[Row]:
    """Return what was found before; a line torn by the interruption is cut off."""
    try:
        lines = checkpoint.read_text(encoding="utf-8").splitlines(keepends=True)
        if not lines or json.loads(lines[0]) != {"stamp": stamp}:
            return []
    except (OSError, ValueError):
        return []
    found: list[Row] = []
    for line in lines[1 : len(documents) + 1]:
        try:
            found.append(_read(json.loads(line)))
        except (ValueError, TypeError):
            break
    checkpoint.write_text("".join(lines[: len(found) + 1]), encoding="utf-8")
    return found


def _read(row: list[tuple[int, int, str, float]] | None) -> Row:
    if row is None:
        return None
    return tuple(Mention(Span(low, high), kind, sure) for low, high, kind, sure in row)
