"""
Descriptions at one remove: two documents that speak of one thing in other words.

"a mountain dairy that is reached only on foot" and "makes goat cheese on an alp without
a road" share no word, and their forms alone are not near enough to be one. What the
sentences and the documents around them are about says more. So telling descriptions are
compared in their context, and two that are each among the few nearest of the other link
their documents. How near that is depends on what else there is: a large corpus turns
down much of what a small one allows.

Nothing is joined. The description that says more counts as being in the document of the
other as well, and each does so once: one that was counted in many documents would be no
longer rare, and would link none of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdrag.linkage.resolution.meaning import Matrix
from sdrag.text.folding import fold, fold_text
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential

__all__ = ["MOST_DESCRIPTIONS", "Description", "Vectors", "said_elsewhere"]

MOST_DESCRIPTIONS = 4000
"""More are not compared in their context, and the report says so."""
_SHARES = (0.4, 0.3, 0.3)
"""How much form, sentence and document count. Chosen, as is `_NEAREST`, on the packaged
clusters and those for development."""
_NEAREST = 4

Vectors = Mapping[str, np.ndarray[tuple[int], np.dtype[np.float32]]]


@dataclass(frozen=True, slots=True, repr=False)
class Description(Confidential):
    """
    A description where it is written.

    Args:
        entity: Its id.
        document: The document's number.
        telling: How much it says there: its relevance times its weight.
        form: As it is written.
        sentence: In which it is written.
        text: Of the document.
    """

    entity: str
    document: int
    telling: float
    form: str
    sentence: str
    text: str

    @classmethod
    def of(
        cls, entity: str, document: int, telling: float, form: str, text: str
    ) -> Description:
        """Find the sentence of a form; where it is in none, it is the whole text."""
        wanted = fold_text(form)
        spans = (span.of(text) for span in sentences(text))
        sentence = next((s for s in spans if any(fold(s).find(wanted))), text)
        return cls(entity, document, telling, form, sentence, text)

    @property
    def context(self) -> tuple[str, str, str]:
        """What is embedded of it."""
        return self.form, self.sentence, self.text

    def __repr__(self) -> str:
        return f"Description(entity={self.entity!r}, document={self.document})"


def said_elsewhere(
    descriptions: Sequence[Description], vectors: Vectors, threshold: float
) -> Iterator[tuple[str, int]]:
    """
    Yield the id of an entity, and a document that speaks of it in other words.

    Args:
        descriptions: The telling ones.
        vectors: Of all texts of their contexts, of unit length.
        threshold: The least cosine of two contexts.
    """
    if len(descriptions) < 2:
        return
    counts = Counter(description.entity for description in descriptions)
    linked = _linked(descriptions)
    for left, right in _near(descriptions, vectors, threshold):
        one, two = descriptions[left], descriptions[right]
        pair = frozenset((one.document, two.document))
        if pair in linked:
            continue
        for said, other in sorted(
            ((one, two), (two, one)), key=lambda item: -item[0].telling
        ):
            if counts[said.entity] == 1:
                counts[said.entity] += 1
                linked.add(pair)
                yield said.entity, other.document
                break


def _linked(descriptions: Sequence[Description]) -> set[frozenset[int]]:
    """Return the pairs of documents that share a description already."""
    documents: dict[str, set[int]] = {}
    for description in descriptions:
        documents.setdefault(description.entity, set()).add(description.document)
    return {
        frozenset((one, two))
        for found in documents.values()
        for one in found
        for two in found
        if one < two
    }


def _near(
    descriptions: Sequence[Description], vectors: Vectors, threshold: float
) -> list[tuple[int, int]]:
    """Return pairs that are each among the nearest of the other, nearest first."""
    cosine = _compared(descriptions, vectors)
    order = np.argsort(-cosine, axis=1, kind="stable")[:, :_NEAREST]
    near = np.zeros(cosine.shape, bool)
    np.put_along_axis(near, order, values=True, axis=1)
    near &= near.T & (cosine >= threshold)
    pairs = np.argwhere(np.triu(near)).tolist()
    return sorted(
        ((left, right) for left, right in pairs),
        key=lambda pair: (-cosine[pair], pair),
    )


def _compared(descriptions: Sequence[Description], vectors: Vectors) -> Matrix:
    """Return (descriptions, descriptions) cosines; -1 within a document or entity."""
    matrix = np.stack(
        [
            np.concatenate(
                [
                    np.sqrt(np.float32(share)) * vectors[text]
                    for share, text in zip(_SHARES, description.context, strict=True)
                ]
            )
            for description in descriptions
        ]
    )
    cosine: Matrix = np.round(matrix @ matrix.T, 6)
    documents = np.array([description.document for description in descriptions])
    names = [description.entity for description in descriptions]
    entities = np.unique(names, return_inverse=True)[1]
    cosine[documents[:, None] == documents] = -1.0
    cosine[entities[:, None] == entities] = -1.0
    return cosine
