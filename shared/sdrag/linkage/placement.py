"""
Where the work on a corpus is done: in this process, or on other machines.

What is found in a text, and what is left of it after masking, depends on nothing but
the text and what all texts have in common. So this work can be done anywhere, in any
order, with the same result. A plan is made in one place, from numbers alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from sdrag.detectors import Detector
from sdrag.effects.progress import batched
from sdrag.effects.steps import EffectRunner, Failure, run
from sdrag.linkage.mentions import Found, found_in
from sdrag.linkage.replacing import Masker
from sdrag.linkage.second_look import KnownForms
from sdrag.linkage.settings import local_runner
from sdrag.vocabulary import Mention, Passage

__all__ = ["HERE", "Cleaned", "Here", "Placement", "cleaned_by"]

_BATCH = 64

Cleaned = tuple[Passage, int]
"""A document with nothing masked in it, and how many spans were taken out."""


def cleaned_by(masker: Masker, document: Passage) -> Cleaned:
    """Return a document with nothing masked in its text, metadata or ids."""
    parent = document.document_id
    replaced = masker.replace(document.text, document.id, parent)
    clean = replace(
        document,
        id=masker.alias(document.id),
        text=replaced.text,
        metadata=masker.clean(dict(document.metadata), document.id, parent),
        document_id=parent and masker.alias(parent),
    )
    return clean, len(replaced.spans)


class Placement(Protocol):
    """Does the work on the documents of a corpus; every answer is in their order."""

    def detected(
        self, texts: Sequence[str], detector: Detector
    ) -> Iterator[tuple[Mention, ...] | None]:
        """Yield what a detector finds in each text; `None` where it failed."""
        ...

    def looked_again(
        self,
        documents: Sequence[Passage],
        mentions: Sequence[Sequence[Mention]],
        weights: Mapping[str, float],
    ) -> Iterator[tuple[Found, ...]]:
        """Yield what is found in each text, knowing what was found in all."""
        ...

    def cleaned(
        self, documents: Sequence[Passage], masker: Masker
    ) -> Iterator[Cleaned]:
        """Yield each document with its masked forms replaced."""
        ...


class Here:
    """
    In this process.

    Args:
        runner: Answers a detector's effects; local work if not given.
    """

    __slots__ = ("_runner",)

    def __init__(self, runner: EffectRunner | None = None) -> None:
        self._runner = runner

    def detected(
        self, texts: Sequence[str], detector: Detector
    ) -> Iterator[tuple[Mention, ...] | None]:
        """Yield what a detector finds, some texts at a time."""
        runner = self._runner or local_runner()
        for some in batched(texts, _BATCH):
            for outcome in run(detector.detect(some), runner):
                yield None if isinstance(outcome, Failure) else tuple(outcome.value)

    def looked_again(
        self,
        documents: Sequence[Passage],
        mentions: Sequence[Sequence[Mention]],
        weights: Mapping[str, float],
    ) -> Iterator[tuple[Found, ...]]:
        """Yield what is found in each text, some texts at a time."""
        known = KnownForms.of([document.text for document in documents], mentions)
        for some in batched(zip(documents, mentions, strict=True), _BATCH):
            read, found = zip(*some, strict=True)
            again = known.look([document.text for document in read], found)
            yield from found_in(read, again, weights)

    def cleaned(
        self, documents: Sequence[Passage], masker: Masker
    ) -> Iterator[Cleaned]:
        """Yield each document with its masked forms replaced."""
        return (cleaned_by(masker, document) for document in documents)


HERE: Placement = Here()
"""In this process, with local work."""
