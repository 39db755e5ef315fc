"""An index of sentence chunks in memory: the host of the experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sdrag.embeddings import embed_texts
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Passage


def sentence_chunks(
    text: str, name: str, metadata: Mapping[str, Any] | None = None
) -> tuple[Passage, ...]:
    """Cut a document into one chunk per sentence; `name` becomes its id."""
    return tuple(
        Passage(f"{name}-{number}", span.of(text), metadata or {}, document_id=name)
        for number, span in enumerate(sentences(text))
    )


class SentenceIndex(Confidential):
    """Chunks and their vectors; searched by cosine."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)
        self._vectors = embed_texts([passage.text for passage in passages])

    def search(self, query: str, limit: int) -> tuple[Passage, ...]:
        """Return the chunks most similar to the query, best first, with scores."""
        scores = self._vectors @ embed_texts([query])[0]
        best = np.argsort(-scores, kind="stable")[:limit]
        return tuple(
            replace(self.passages[index], score=float(scores[index])) for index in best
        )
