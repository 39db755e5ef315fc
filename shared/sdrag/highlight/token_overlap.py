"""
How well sentences meet a question, measured over the packaged MiniLM's tokens.

Every token of the question and of a passage is embedded in its context; what a
sentence *met* is, for each token of the question, the cosine of its nearest token
(late interaction, as in ColBERT). Of this matrix four things are read: what the focus
of the question met, which stands where the answer stands; for how much of the question
the sentence is the best of all, where a token that tells sentences apart counts for
more; what the worst-met words met; and beside them the overlap of characters and
whether a number was asked for and is given. Each is comparable between the sentences
at hand and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdrag.highlight.question_types import asks_for_a_number, focus, gives_a_number
from sdrag.highlight.word_overlap import is_telling, overlap
from sdrag.minilm import embed_texts, embed_tokens
from sdrag.vocabulary import Confidential

if TYPE_CHECKING:
    import numpy as np

    Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Question"]

_LEAST_SHARE = 3
"""The worst-met third of a question's telling words."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Question(Confidential):
    """
    A question, embedded.

    Args:
        text: The question.
        vector: Of the whole.
        words: A (tokens, 384) matrix.
        tokens: The tokens in lower case.
    """

    text: str
    vector: Vector
    words: Matrix
    tokens: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Question:
        """Embed a question."""
        ((words, places),) = embed_tokens([text])
        tokens = tuple(place.of(text).lower() for place in places)
        return cls(text, embed_texts([text])[0], words, tokens)

    def met_by(self, tokens: Matrix) -> Vector:
        """Give for each token of the question the cosine of the nearest of others."""
        nearest: Vector = (self.words @ tokens.T).max(axis=1)
        return nearest

    def focus(self, met: Matrix) -> Vector:
        """
        Say how near each sentence comes to what is asked for.

        Args:
            met: A (sentences, question tokens) matrix of cosines; as below.
        """
        return _mean(met, focus(self.tokens))

    def best(self, met: Matrix) -> Vector:
        """Say of how much of the question each sentence is the nearest, from 0 to 1."""
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

        telling = self._telling()
        spread = np.sqrt(met.max(axis=0) - met.mean(axis=0) + 1e-6)[telling]
        nearest = (met == met.max(axis=0))[:, telling]
        share: Vector = (nearest * spread).sum(axis=1) / max(spread.sum(), 1e-6)
        return share

    def least(self, met: Matrix) -> Vector:
        """Say how near each sentence comes to the words that it meets worst."""
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

        telling = self._telling() or list(range(met.shape[1]))
        worst = np.sort(met[:, telling], axis=1)
        return _mean(worst, list(range(max(1, len(telling) // _LEAST_SHARE))))

    def overlap(self, sentences: Sequence[str]) -> Vector:
        """Say how much of the question's characters stand in each sentence."""
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

        return np.asarray(overlap(self.text, sentences), dtype=np.float32)

    def number(self, sentences: Sequence[str]) -> Vector:
        """Say which sentences give a number, if one is asked for."""
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

        asks = asks_for_a_number(self.text)
        given = [asks and gives_a_number(one, self.text) for one in sentences]
        return np.asarray(given, dtype=np.float32)

    def _telling(self) -> list[int]:
        return [at for at, token in enumerate(self.tokens) if is_telling(token)]


def _mean(met: Matrix, columns: Sequence[int]) -> Vector:
    """Give the mean of some columns, 0 of none."""
    import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

    if not columns:
        return np.zeros(len(met), dtype=np.float32)
    mean: Vector = met[:, columns].mean(axis=1)
    return mean
