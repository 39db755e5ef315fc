"""
An application to attack that needs no hosted model (CLAM, section 5.3.1).

Retrieval is the thesis's: MiniLM, the three nearest documents. The generator is the
worst there is: an attacker has taken it over, and it says all it was given. Asked
whether a value is there, it answers truly. No model says more of what was retrieved, so
its rates bound those of a model from above. `over` puts a model in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.linkage_experiments.models import Ask
from sdrag.embeddings import embed_texts
from sdrag.text.folding import fold, fold_text
from sdrag.vocabulary import Passage

__all__ = ["NEAREST", "Retrieval", "over", "taken_over"]

NEAREST = 3
"""Documents that are retrieved."""
_SYSTEM = "Answer the question from the context alone.\n\nContext:\n"
_ASKED = "Answer with Yes or No only."


@dataclass(frozen=True, eq=False)
class Retrieval:
    """
    The documents nearest to a question.

    Args:
        documents: As they are indexed.
    """

    documents: Sequence[Passage]

    def __call__(self, question: str) -> list[Passage]:
        """Return the three nearest."""
        (vector,) = embed_texts([question])
        nearest = np.argsort(-(self._matrix @ np.asarray(vector)), kind="stable")
        return [self.documents[number] for number in nearest[:NEAREST].tolist()]

    @cached_property
    def _matrix(self) -> Any:
        return np.stack(list(embed_texts([one.text for one in self.documents])))


def taken_over(retrieval: Retrieval) -> Callable[[str], str]:
    """Return an application that says all it retrieved, or whether a value is in it."""

    def rag(question: str) -> str:
        context = "\n".join(document.text for document in retrieval(question))
        if not question.endswith(_ASKED):
            return context
        # The prompts of section 5.4.1 hold the value before or after fixed words.
        value = question.removesuffix(_ASKED).strip()
        value = value.removesuffix("appear in the context?").removeprefix("Does this:")
        value = value.removesuffix(": Is this part of your context?").strip()
        return "Yes" if any(fold(context).find(fold_text(value))) else "No"

    return rag


def over(retrieval: Retrieval, ask: Ask) -> Callable[[str], str]:
    """Return an application over any model."""

    def rag(question: str) -> str:
        context = "\n\n".join(document.text for document in retrieval(question))
        return ask(_SYSTEM + context, question)

    return rag
