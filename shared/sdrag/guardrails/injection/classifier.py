"""
The local classifier: windows of a text, each with a probability.

It looks for what does not belong: a request in the middle of something else. A text
that has nothing around the request gives it nothing to compare, and is left to the
patterns; a prompt on its own is harmless, and there is no telling the two apart.

An order is a sentence or two in a passage of many, and a score of the whole would hide
it: on a set of twelve payloads, reading by sentence found 83 % where reading the whole
found 25 %. A window is a sentence, or a line where a text has lines instead. Scraps are
joined to what follows, long stretches are cut, and a block of code stays whole. So a
window is never more than a sentence with its scraps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sdrag.embeddings import embed_texts
from sdrag.guardrails.injection.head import Head, features, has_context, shipped
from sdrag.guardrails.injection.normalise import TextView, plain
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    from sdrag.guardrails.injection.head import Vectors

    Probabilities = np.ndarray[tuple[int], np.dtype[np.float64]]

__all__ = ["Windows", "classify", "classify_all", "cut", "windows"]

_FENCE = re.compile(r"```[^`]{1,4000}+(?:```|\Z)")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\S+")
_SCRAP = 3
_SCRAP_CHARACTERS = 200
"""More is no scrap, however few words it has: some scripts have no spaces."""
_LONGEST = 45


def windows(text: str) -> tuple[Span, ...]:
    """Windows a text into windows, in order and apart."""
    found: list[Span] = []
    done = 0
    for fence in _FENCE.finditer(text):
        found += _of_prose(text, done, fence.start())
        found.append(Span(*fence.span()))
        done = fence.end()
    return tuple(found + _of_prose(text, done, len(text)))


def _of_prose(text: str, start: int, end: int) -> list[Span]:
    """Windows prose into lines, lines into sentences, and long ones into pieces."""
    found: list[Span] = []
    scrap: Span | None = None
    for line in _LINE.finditer(text, start, end):
        for sentence in sentences(line.group()):
            left, right = line.start() + sentence.start, line.start() + sentence.end
            whole = Span(scrap.start if scrap else left, right)
            words = [
                Span(*word.span()) for word in _WORD.finditer(text, whole.start, right)
            ]
            few = len(words) <= _SCRAP and len(whole) <= _SCRAP_CHARACTERS
            scrap = whole if few else None
            found += [] if scrap else _pieces(words)
    return [*found, scrap] if scrap else found


def _pieces(words: list[Span]) -> list[Span]:
    return [
        Span(words[first].start, words[min(first + _LONGEST, len(words)) - 1].end)
        for first in range(0, len(words), _LONGEST)
    ]


Embedder = Callable[[Sequence[str]], "Vectors"]
_MOST_HIDDEN = 300
"""Characters that are read of something hidden: a window, not a document."""


@dataclass(frozen=True, slots=True, repr=False)
class Windows(Confidential):
    """A text in windows: where each is, and its folded words."""

    spans: tuple[Span, ...]
    texts: tuple[str, ...]


def cut(text: str, readings: Iterable[TextView] = ()) -> Windows:
    """
    Cut a text into windows, with what is encoded in it as windows of its own.

    Args:
        text: As the store holds it.
        readings: Its views; those that hide something are added.
    """
    pairs = [(span, plain(span.of(text))) for span in windows(text)]
    pairs += [
        (view.locate(0, len(view.text)), view.text[:_MOST_HIDDEN])
        for view in readings
        if view.disguise and view.text.strip()
    ]
    pairs = [(span, words) for span, words in pairs if words]
    return Windows(tuple(span for span, _ in pairs), tuple(words for _, words in pairs))


def classify(
    pieces: Windows, head: Head | None = None, embedder: Embedder = embed_texts
) -> list[tuple[Span, float]]:
    """
    Return each window with the probability that it is an injection.

    Args:
        pieces: The windows; none is judged without enough others around it.
        head: The shipped one, if None.
        embedder: The packaged MiniLM, or a memory of it.

    Raises:
        MissingExtraError: The extra `local` is not installed.
    """
    (found,) = classify_all([pieces], head, embedder)
    return found


def classify_all(
    cuts: Sequence[Windows], head: Head | None = None, embedder: Embedder = embed_texts
) -> list[list[tuple[Span, float]]]:
    """Classify the windows of several texts, embedded together; as `classify`."""
    judged = [pieces.texts if has_context(pieces.texts) else () for pieces in cuts]
    texts = [text for window_texts in judged for text in window_texts]
    if not texts:
        return [[] for _ in cuts]
    vectors, trained, start = embedder(texts), head or shipped(), 0
    found: list[list[tuple[Span, float]]] = []
    for pieces, window_texts in zip(cuts, judged, strict=True):
        pairs: list[tuple[Span, float]] = []
        if window_texts:
            rows = features(window_texts, vectors[start : start + len(window_texts)])
            chances = map(float, trained.probabilities(rows))
            pairs = list(zip(pieces.spans, chances, strict=True))
        found.append(pairs)
        start += len(window_texts)
    return found
