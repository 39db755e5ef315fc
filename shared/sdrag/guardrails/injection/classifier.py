"""
The local classifier: windows of a text, each with a probability.

It looks for what does not belong: a request in the middle of something else. A text
that has nothing around the request gives it nothing to compare, and is left to the
patterns; a prompt on its own is harmless, and there is no telling the two apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdrag.guardrails.injection.features import features, has_context
from sdrag.guardrails.injection.head import Head, shipped
from sdrag.guardrails.injection.normalise import View, plain
from sdrag.guardrails.injection.scan_windows import windows
from sdrag.minilm import embed_texts
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    import numpy as np

    from sdrag.guardrails.injection.features import Vectors

    Probabilities = np.ndarray[tuple[int], np.dtype[np.float64]]

__all__ = ["Cut", "classify", "classify_all", "cut"]

Embedder = Callable[[Sequence[str]], "Vectors"]
_MOST_HIDDEN = 300
"""Characters that are read of something hidden: a window, not a document."""


@dataclass(frozen=True, slots=True, repr=False)
class Cut(Confidential):
    """A text in windows: where each stands, and its folded words."""

    spans: tuple[Span, ...]
    texts: tuple[str, ...]


def cut(text: str, readings: Iterable[View] = ()) -> Cut:
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
    return Cut(tuple(span for span, _ in pairs), tuple(words for _, words in pairs))


def classify(
    pieces: Cut, head: Head | None = None, embedder: Embedder = embed_texts
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
    cuts: Sequence[Cut], head: Head | None = None, embedder: Embedder = embed_texts
) -> list[list[tuple[Span, float]]]:
    """Classify the windows of several texts, embedded together; as `classify`."""
    judged = [pieces.texts if has_context(pieces.texts) else () for pieces in cuts]
    texts = [text for own in judged for text in own]
    if not texts:
        return [[] for _ in cuts]
    vectors, trained, start = embedder(texts), head or shipped(), 0
    found: list[list[tuple[Span, float]]] = []
    for pieces, own in zip(cuts, judged, strict=True):
        pairs: list[tuple[Span, float]] = []
        if own:
            rows = features(own, vectors[start : start + len(own)])
            chances = map(float, trained.probabilities(rows))
            pairs = list(zip(pieces.spans, chances, strict=True))
        found.append(pairs)
        start += len(own)
    return found
