"""
How well sentences meet a question, measured over the packaged MiniLM's tokens.

Every token of the question and of a passage is embedded in its context; what a
sentence *met* is, for each token of the question, the cosine of its nearest token
(late interaction, as in ColBERT). Of this matrix four things are read: what the focus
of the question met, which is where the answer is; for how much of the question
the sentence is the best of all, where a token that tells sentences apart counts for
more; what the worst-met words met; and in addition the overlap of characters and
whether a number was asked for and is given. Each is comparable between the sentences
at hand and nowhere else.

The *focus* is the word that asks, with what follows it up to an auxiliary ("which
river", "how many"). A model that embeds tokens in their context puts it near the answer
in its sentence. A few English words tell that a question asks for a number. A question
in another language has no focus, and is judged by the other measures.

The overlap of characters compares words by their runs of four characters, so that
endings need no rules. A run that every sentence holds tells none of them apart, so runs
are weighted by their inverse document frequency over the sentences at hand. The
commonest English words are left out of the question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdrag.embeddings import embed_texts, embed_tokens
from sdrag.vocabulary import SCORE_DIGITS, Confidential

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = [
    "Question",
    "asks_for_a_number",
    "focus",
    "gives_a_number",
    "is_telling",
    "overlap",
]

_ASKING_WORDS = "who whom whose what which when where why how"
_AUXILIARY_WORDS = """
is are was were did do does has have had can could would will should may might been
being
"""
_ASKING = frozenset(_ASKING_WORDS.split())
_AUXILIARIES = frozenset(_AUXILIARY_WORDS.split())
_LONGEST = 5
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|tall|large|big|often|fast|high|deep|wide|heavy)\b"
    r"|\bwhat (?:percent|percentage|number|amount|fraction|proportion|age|size"
    r"|population|temperature)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d[\d,.]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen"
    r"|half|third|quarter|none|once|twice|first|second)s?\b",
    re.IGNORECASE,
)
_PART = re.compile(r"[^\W_]+")


def focus(tokens: Sequence[str]) -> list[int]:
    """
    Say which tokens of a question ask for the answer.

    Args:
        tokens: The question's tokens in lower case; pieces of a word one by one.
    """
    first = next((at for at, token in enumerate(tokens) if token in _ASKING), None)
    if first is None:
        return []
    found = [first]
    for at in range(first + 1, min(first + _LONGEST, len(tokens))):
        if tokens[at] in _AUXILIARIES or not tokens[at].isalnum():
            break
        found.append(at)
    return found


def asks_for_a_number(question: str) -> bool:
    """Say whether a question asks how many, how much, how long."""
    return _ASKS_NUMBER.search(question) is not None


def gives_a_number(sentence: str, question: str) -> bool:
    """Say whether a sentence holds a number that the question does not."""
    known = set(_PART.findall(question.lower()))
    return any(
        not known.issuperset(_PART.findall(found.group().lower()))
        for found in _NUMBER.finditer(sentence)
    )


_WORD = re.compile(r"\w+")
_STOP_WORDS = """
a an the of in on at to for from by with and or but as is are was were be been being do
does did has have had it its this that these those he she they him his her their we you
i our your not no nor if than then so such can could will would shall should may might
must what which who whom whose when where why how many much long far often into over
under about between during after before also there here out up down more most some any
each other only own same s t
"""
_STOP = frozenset(_STOP_WORDS.split())
_RUN = 4


def is_telling(word: str) -> bool:
    """Say whether a lower-case word is one, and none of the commonest."""
    return word.isalnum() and word not in _STOP


def overlap(question: str, sentences: Sequence[str]) -> list[float]:
    """Give for each sentence the weighted share of the question's runs in it."""
    words = [word for word in _WORD.findall(question.lower()) if word not in _STOP]
    asked = _runs(" ".join(words))
    shared = [asked & _runs(sentence.lower()) for sentence in sentences]
    weights = {
        run: math.log((len(shared) + 1) / (sum(run in item for item in shared) + 0.5))
        for run in asked
    }
    total = sum(weights.values()) or 1.0
    return [sum(weights[run] for run in sorted(item)) / total for item in shared]


def _runs(text: str) -> frozenset[str]:
    return frozenset(text[at : at + _RUN] for at in range(len(text) - _RUN + 1))


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
        tokens = tuple(index.of(text).lower() for index in places)
        return cls(text, embed_texts([text])[0], words, tokens)

    def met_by(self, tokens: Matrix) -> Vector:
        """Give for each token of the question the cosine of the nearest of others."""
        nearest: Vector = (self.words @ tokens.T).max(axis=1)
        return nearest.round(SCORE_DIGITS)

    def focus(self, met: Matrix) -> Vector:
        """
        Say how near each sentence comes to what is asked for.

        Args:
            met: A (sentences, question tokens) matrix of cosines; as below.
        """
        return _mean(met, focus(self.tokens))

    def best(self, met: Matrix) -> Vector:
        """Say of how much of the question each sentence is the nearest, from 0 to 1."""
        telling = self._telling()
        spread = np.sqrt(met.max(axis=0) - met.mean(axis=0) + 1e-6)[telling]
        nearest = (met == met.max(axis=0))[:, telling]
        share: Vector = (nearest * spread).sum(axis=1) / max(spread.sum(), 1e-6)
        return share

    def least(self, met: Matrix) -> Vector:
        """Say how near each sentence comes to the words that it meets worst."""
        telling = self._telling() or list(range(met.shape[1]))
        worst = np.sort(met[:, telling], axis=1)
        return _mean(worst, list(range(max(1, len(telling) // _LEAST_SHARE))))

    def overlap(self, sentences: Sequence[str]) -> Vector:
        """Say how many of the question's characters are in each sentence."""
        return np.asarray(overlap(self.text, sentences), dtype=np.float32)

    def number(self, sentences: Sequence[str]) -> Vector:
        """Say which sentences give a number, if one is asked for."""
        asks = asks_for_a_number(self.text)
        given = [asks and gives_a_number(item, self.text) for item in sentences]
        return np.asarray(given, dtype=np.float32)

    def _telling(self) -> list[int]:
        return [at for at, token in enumerate(self.tokens) if is_telling(token)]


def _mean(met: Matrix, columns: Sequence[int]) -> Vector:
    """Give the mean of some columns, 0 of none."""
    if not columns:
        return np.zeros(len(met), dtype=np.float32)
    mean: Vector = met[:, columns].mean(axis=1)
    return mean
