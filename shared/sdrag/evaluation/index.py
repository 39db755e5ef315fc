"""An index of sentence chunks in memory: the host of the experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sdrag.embeddings import embed_texts
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Passage

__all__ = ["SentenceIndex", "sentence_chunks"]


def sentence_chunks(article: Mapping[str, Any], name: str) -> tuple[Passage, ...]:
    """
    Cut an article into one chunk per sentence.

    Args:
        article: In the format of the data set.
        name: Becomes the document's id.
    """
    text = str(article["article_text"])
    return tuple(
        Passage(f"{name}-{number}", span.of(text), document_id=name)
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
            Passage(
                self.passages[index].id,
                self.passages[index].text,
                self.passages[index].metadata,
                float(scores[index]),
                self.passages[index].document_id,
            )
            for index in best
        )
