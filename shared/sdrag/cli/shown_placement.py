"""Work on the documents of a corpus, with a bar that shows how far it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from sdrag.cli.common import progress_bar
from sdrag.detectors import Detector
from sdrag.linkage.mentions import Found
from sdrag.linkage.placement import Cleaned, Placement
from sdrag.linkage.replacing import Masker
from sdrag.vocabulary import Mention, Passage

__all__ = ["ShownPlacement"]

T = TypeVar("T")


class ShownPlacement:
    """
    A placement that shows a bar for each pass but the first, which has its own.

    Args:
        placement: Where the work is done.
    """

    __slots__ = ("_placement",)

    def __init__(self, placement: Placement) -> None:
        self._placement = placement

    def detected(
        self, texts: Sequence[str], detector: Detector
    ) -> Iterator[tuple[Mention, ...] | None]:
        """Yield what a detector finds in each text."""
        return self._placement.detected(texts, detector)

    def looked_again(
        self,
        documents: Sequence[Passage],
        mentions: Sequence[Sequence[Mention]],
        weights: Mapping[str, float],
    ) -> Iterator[tuple[Found, ...]]:
        """Yield what is found in each text, knowing what was found in all."""
        found = self._placement.looked_again(documents, mentions, weights)
        return _shown("Looking again", found, len(documents))

    def cleaned(
        self, documents: Sequence[Passage], masker: Masker
    ) -> Iterator[Cleaned]:
        """Yield each document with its masked forms replaced."""
        cleaned = self._placement.cleaned(documents, masker)
        return _shown("Masking", cleaned, len(documents))


def _shown(label: str, items: Iterator[T], total: int) -> Iterator[T]:
    with progress_bar(label, total) as update:
        for done, item in enumerate(items, 1):
            yield item
            update(done, total)
