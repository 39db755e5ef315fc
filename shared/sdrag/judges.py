"""
The host's models that judge pairs of texts.

A judge is known by what it judges: `relevance` (question and passage), `injection` (a
text and an empty one), `entailment` and `contradiction` (premise and hypothesis).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from sdrag.effects.runner import Port
from sdrag.effects.steps import Score
from sdrag.errors import UsageError

__all__ = [
    "JudgeName",
    "Judges",
    "PredictsPairs",
    "ScoresPairs",
    "score_with",
]

JudgeName = Literal["relevance", "injection", "entailment", "contradiction"]
_NAMES = get_args(JudgeName)


@runtime_checkable
class ScoresPairs(Protocol):
    """Such as LangChain's `BaseCrossEncoder`."""

    def score(self, text_pairs: Any) -> Sequence[float]:
        """Return a number for each pair."""
        ...


@runtime_checkable
class PredictsPairs(Protocol):
    """Such as `CrossEncoder` of sentence-transformers."""

    def predict(self, sentences: Any) -> Sequence[float]:
        """Return a number for each pair."""
        ...


Scorer = (
    Callable[[list[tuple[str, str]]], Sequence[float]] | ScoresPairs | PredictsPairs
)
Judges = Mapping[JudgeName, Scorer | None]
"""Models by the name of what they judge; None for one that is not there."""


def score_with(judges: Judges) -> Port[Score, Sequence[float]] | None:
    """
    Judge pairs with the host's model of the name that is asked for.

    Args:
        judges: Models by name.

    Raises:
        UsageError: A name is not known, or a model cannot be asked.
    """
    models = {
        name: _callable(name, model)
        for name, model in judges.items()
        if model is not None
    }
    if not models:
        return None

    def call(effect: Score) -> Sequence[float]:
        model = models.get(effect.model)  # type: ignore[call-overload]
        if model is None:
            raise UsageError(f"No model was passed that judges {effect.model}.")
        return [float(value) for value in model(list(effect.items))]

    return Port(call)


def _callable(name: str, model: Scorer) -> Callable[[Any], Sequence[float]]:
    if name not in _NAMES:
        raise UsageError(
            f"`judges` has no place for {name!r}.", hint=f"It has {', '.join(_NAMES)}."
        )
    if isinstance(model, ScoresPairs):
        return model.score
    if isinstance(model, PredictsPairs):
        return model.predict
    if callable(model):
        return model
    raise UsageError(
        f"A judge must be callable, got {type(model).__name__}.",
        hint="It is a callable on pairs of texts, or has `score` or `predict`.",
    )
