"""
The trained head: a logistic regression over the features of a window.

Its weights ship as plain numbers in `head.json`, so that loading them runs nothing and
a change can be read. They come from `sdrag.guardrails.injection.train`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from sdrag.errors import InternalError
from sdrag.guardrails.injection.features import WIDTH

if TYPE_CHECKING:
    from sdrag.guardrails.injection.features import Matrix

    Row = np.ndarray[tuple[int], np.dtype[np.float64]]

__all__ = ["Head", "shipped"]

_FURTHEST = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """
    What turns features into the probability of an injection.

    Args:
        weights: One for each feature.
        bias: Added to their sum.
    """

    weights: Row
    bias: float

    def __post_init__(self) -> None:
        if self.weights.shape != (WIDTH,) or not np.isfinite(self.weights).all():
            raise InternalError("The weights do not fit the features.")

    def probabilities(self, features: Matrix) -> Row:
        """Return, for each row of features, the probability of an injection."""
        reach = np.clip(features @ self.weights + self.bias, -_FURTHEST, _FURTHEST)
        return np.asarray(1.0 / (1.0 + np.exp(-reach)))

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, as it is shipped."""
        return {
            "bias": round(self.bias, 5),
            "weights": [round(float(weight), 5) for weight in self.weights],
        }


@lru_cache(maxsize=1)
def shipped() -> Head:
    """Load the head that comes with the package."""
    source = files("sdrag.guardrails.injection").joinpath("head.json")
    held = json.loads(source.read_text(encoding="utf-8"))
    return Head(np.array(held["weights"], dtype=float), float(held["bias"]))
