"""
Passages cut into sentences and embedded by the packaged MiniLM, remembered for a while.

The same passages are retrieved again and again, and embedding is what a local
highlighter spends its time on. What is remembered are vectors and offsets under a keyed
digest of the text, never the text; the key lives as long as the process.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock

import numpy as np

from sdrag.embeddings import embed_texts, embed_tokens
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Span

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Embedded", "embedded"]

_GROUP = 1_000
"""Characters that are embedded together: about the model's 256 tokens."""
_REMEMBERED = 2_048


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Embedded(Confidential):
    """
    A sentence and its vectors.

    Args:
        span: Where it is in its passage.
        group: The run of sentences that its tokens were embedded with.
        tokens: A (tokens, 384) matrix, each token in its context.
        following: The vector of the sentence after the one before it.
    """

    span: Span
    group: int
    tokens: Matrix
    following: Vector


def embedded(text: str) -> tuple[Embedded, ...]:
    """Give the sentences of a passage with their vectors."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), key=_key).digest()
    with _lock:
        if digest in _remembered:
            _remembered.move_to_end(digest)
            return _remembered[digest]
    found = tuple(_embed(text))
    with _lock:
        _remembered[digest] = found
        while len(_remembered) > _REMEMBERED:
            _remembered.popitem(last=False)
    return found


_key = secrets.token_bytes(32)
_lock = Lock()
_remembered: OrderedDict[bytes, tuple[Embedded, ...]] = OrderedDict()


def _embed(text: str) -> Iterator[Embedded]:
    spans = sentences(text)
    said = [span.of(text) for span in spans]
    following = [
        f"{before} {sentence}".strip()
        for before, sentence in zip(["", *said], said, strict=False)
    ]
    vectors = iter(embed_texts(following))
    groups = list(_groups(spans))
    reaches = [Span(group[0].start, group[-1].end) for group in groups]
    tokens = embed_tokens([reach.of(text) for reach in reaches])
    for number, group in enumerate(groups):
        rows, places = tokens[number]
        starts = [index.start + reaches[number].start for index in places]
        for span in group:
            rows_of_span = [
                row for row, at in enumerate(starts) if span.start <= at < span.end
            ]
            yield Embedded(span, number, rows[rows_of_span], next(vectors))


def _groups(spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Yield runs of sentences that are embedded together."""
    group: list[Span] = []
    for span in spans:
        if group and span.end - group[0].start > _GROUP:
            yield group
            group = []
        group.append(span)
    if group:
        yield group
