"""
The models that a host hands in to judge pairs of texts, and which a policy needs.

A judge is known by what it judges: `relevance` (question and passage), `injection` (a
text and an empty one), `entailment` and `contradiction` (premise and hypothesis). A
model that a policy asks for and nobody handed in is an error when a wrapper is built;
at the first question it would be silence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from sdrag.effects.runner import Port
from sdrag.effects.steps import Score
from sdrag.errors import UsageError
from sdrag.policy import GUARDS, Policy

__all__ = [
    "JudgeName",
    "Judges",
    "PredictsPairs",
    "ScoresPairs",
    "check_judges",
    "scoring",
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


def scoring(judges: Judges) -> Port[Score, Sequence[float]] | None:
    """
    Judge pairs with the host's model of the name that is asked for.

    Args:
        judges: Models by name.

    Raises:
        UsageError: A name is not known, or a model cannot be asked.
    """
    models = {name: _callable(name, one) for name, one in judges.items() if one}
    if not models:
        return None

    def call(effect: Score) -> Sequence[float]:
        model = models.get(effect.model)  # type: ignore[call-overload]
        if model is None:
            raise UsageError(f"No model was handed in that judges {effect.model}.")
        return [float(value) for value in model(list(effect.items))]

    return Port(call)


def check_judges(
    policy: Policy, stages: Collection[str], judges: Judges, *, has_model: bool
) -> None:
    """
    Check that the models are there that the guards of a policy ask for.

    Args:
        policy: The policy in force.
        stages: Those of the guards that run.
        judges: Models by name.
        has_model: Whether a language model was handed in.

    Raises:
        UsageError: One is missing.
    """
    for guard in GUARDS:
        section = guard.settings(policy)
        if section is not None and guard.judge and guard.stage in stages:
            _check(section.asks, guard.judge, judges, has_model=has_model)


def _check(method: str, name: JudgeName, judges: Judges, *, has_model: bool) -> None:
    """Check the model of a method: the judge of pairs, the language model, or none."""
    if method == "nli" and judges.get(name) is None:
        _refuse(name, f'judges={{"{name}": ...}}')
    if method == "llm" and not has_model:
        _refuse(name, "llm=...")


def _refuse(name: JudgeName, argument: str) -> None:
    raise UsageError(
        f"The policy asks for a model that judges {name}, and there is none.",
        hint=f"Pass `{argument}`, or change the method in the policy.",
    )


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
