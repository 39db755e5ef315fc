"""The model that extracts entities exactly: it says what the data says."""

from __future__ import annotations

import json
from collections.abc import Sequence

from benchmarks.suites.linkage_clusters import Cluster
from sdrag.effects.prompts import Prompt
from sdrag.vocabulary import Confidential

__all__ = ["ExactExtractor"]


class ExactExtractor(Confidential):
    """
    A model that answers both prompts of the two-stage extraction.

    Args:
        clusters: Of which the data names the entities.
    """

    def __init__(self, clusters: Sequence[Cluster]) -> None:
        self._rows = {
            document.text: (cluster.entities or {})[document.id]
            for cluster in clusters
            for document in cluster.documents
        }

    def __call__(self, prompt: Prompt) -> str:
        """Answer a prompt, whose last part is the document."""
        return self.answer(prompt.messages[-1].content.text)

    def answer(self, content: str) -> str:
        """Answer the last message of a prompt."""
        rows = self._rows[content.rpartition("Document:\n")[2]]
        return json.dumps({"entities": [list(row) for row in rows]})
