"""
What the examples of a constraint teach: how they weigh in a sentence and in its words.

The head is linear, and learned from many constraints that no network has seen. It has
two ends. Where the networks read the examples as the constraint means them, what they
say of a sentence counts, and likeness corrects it; where they make nothing of them,
likeness decides. Training: benchmarks/scorer/train_examples.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sdrag.disclosure.local.scorer import Compared, logit
from sdrag.vocabulary import SCORE_DIGITS, Confidential

Row = np.ndarray[tuple[int], np.dtype[np.float32]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

UNHEARD = {
    "bias": -2.7,
    "networks": 0.262,
    "networks of examples": -0.285,
    "number": -0.684,
    "phrases": 0.406,
    "phrases and number": 0.482,
    "nearest phrase": 0.335,
    "sentences": 0.503,
    "examples alike": -0.279,
    "stays": -0.255,
    "word": 0.2,
    "word like phrases": 1.74,
    "word bias": -1.5,
}
"""The weights of the head where the networks do not read what a constraint means."""
HEARD = {
    "bias": 1.3,
    "networks": 0.204,
    "phrases": -0.139,
    "nearest phrase": -0.019,
    "sentences": -0.409,
    "examples alike": 0.05,
    "word": 0.65,
    "word like phrases": -0.67,
    "word bias": 1.57,
}
"""What is added to them where the networks read its examples as it means them."""
_FAR = 2.0
"""Up to here, in deviations, a sentence is not like one that stays."""
_SAME = 0.97
"""From this cosine on a sentence is one that was shown, but for a word."""
_SURE = 0.99
_VERY_SAME = 0.9999
"""Where a sentence is like both, one that goes and one that stays, it goes, unless it
is the one that stays."""
_PROPOSES = 1.4
"""So much below its threshold, by the scorer alone, a sentence is given to the gate."""


@dataclass(frozen=True, slots=True, repr=False)
class Lesson(Confidential):
    """
    What the examples of a constraint show.

    Args:
        compared: The phrases that go; their sentences, and after them those that stay.
        means: Of the cosines of the bank, row by row.
        spreads: Their standard deviations.
        weights: Of the head, for this constraint.
        known: What the head reads of the examples themselves.
    """

    compared: Compared
    means: Matrix
    spreads: Matrix
    weights: Mapping[str, float]
    known: Mapping[str, float]

    def weigh(self, chance: float, cosines: Matrix) -> float:
        """
        Return the probability that a sentence holds what goes.

        Args:
            chance: As the networks say, from the sentence and its document; the
                outcome rises with it.
            cosines: Of each of its words, as `score` gives them for `compared`.
        """
        count = len(self.compared.phrases)
        if not cosines.shape[1]:
            return chance
        best = cosines.max(axis=1)
        same, other = (
            part.max(initial=-1.0)
            for part in (best[count : 2 * count], best[2 * count :])
        )
        if same >= _SAME and other < _VERY_SAME:  # what was shown, or all but that
            return _SURE
        if other >= _VERY_SAME:
            return 0.0
        features = self.describe(chance, best)
        if count:
            total = self.weights["bias"]
            total += sum(self.weights[name] * each for name, each in features.items())
        else:
            total = features["networks"] + self.weights["stays"] * features["stays"]
        return round(float(1 / (1 + math.exp(-total))), SCORE_DIGITS)

    def describe(self, chance: float, best: Row) -> dict[str, float]:
        """Return what the head reads of a sentence, by its highest cosines."""
        count = len(self.compared.phrases)
        far = (best - self.means[:, 0]) / self.spreads[:, 0]
        phrases, whole, stays = far[:count], far[count : 2 * count], far[2 * count :]
        features = {
            "networks": float(logit(chance)),
            "stays": max(0.0, float(stays.max(initial=0.0)) - _FAR),
        }
        if count:
            near = float(phrases.mean())
            features |= {
                **self.known,
                "phrases": near,
                "phrases and number": near * self.known["number"],
                "nearest phrase": float(phrases.max()),
                "sentences": float(whole.mean()),
            }
        return features

    def weigh_words(self, chances: Row, cosines: Matrix) -> Row:
        """Return the probabilities of words, by what is like the phrases that go."""
        count = len(self.compared.phrases)
        if not count or not len(chances):
            return chances
        far = (cosines[:count] - self.means[:count]) / self.spreads[:count]
        logits = self.weights["word"] * logit(chances) + self.weights["word bias"]
        logits += self.weights["word like phrases"] * far.mean(axis=0)
        raised: Row = 1 / (1 + np.exp(-logits))
        return raised

    def proposes(self, chances: Row, cosines: Matrix, least: float) -> bool:
        """Say whether the gate is to decide a sentence, by the scorer's words of it."""
        if not len(self.compared.phrases):
            return False
        likely = self.weigh(float(chances.max(initial=0.0)), cosines)
        return bool(logit(likely) >= logit(least) - _PROPOSES)
