"""
The models that a host hands in to judge pairs of texts, and which a policy needs.

Four names are known: `relevance` (question and passage), `injection` (a text and
nothing), `entailment` and `contradiction` (premise and hypothesis). A model that a
policy asks for and nobody handed in is an error when a wrapper is built; at the first
question it would be silence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sdrag.engine.calls import Port
from sdrag.engine.steps import Score
from sdrag.errors import UsageError
from sdrag.policy import Policy

__all__ = ["Judge", "Scorer", "check_answering", "check_retrieving", "scoring"]

Scorer = Any
"""A callable on pairs of texts, or an object whose `score` or `predict` is one, such as
LangChain's `BaseCrossEncoder` or a `CrossEncoder` of sentence-transformers."""
Judge = Literal["relevance", "injection", "entailment", "contradiction"]
_ARGUMENTS: Mapping[Judge, str] = {
    "relevance": "scorer",
    "injection": "classifier",
    "entailment": "entailment",
    "contradiction": "contradiction",
}


def scoring(scorers: Mapping[Judge, Scorer]) -> Port[Score, Sequence[float]] | None:
    """
    Judge pairs with the host's model of the name that is asked for.

    Args:
        scorers: None for a model that was not handed in; asking it fails.

    Raises:
        UsageError: One of them cannot be asked.
    """
    judges = {name: _callable(one) for name, one in scorers.items() if one is not None}
    if not judges:
        return None

    def call(effect: Score) -> Sequence[float]:
        judge = judges.get(effect.model)  # type: ignore[call-overload]
        if judge is None:
            raise UsageError(f"No model for {effect.model!r} was handed in.")
        return [float(value) for value in judge(list(effect.items))]

    return Port(call)


def check_retrieving(
    policy: Policy, scorers: Mapping[Judge, Scorer], *, has_model: bool
) -> None:
    """
    See to it that the models are there that a policy asks for at retrieval.

    Args:
        policy: The policy in force.
        scorers: As for `scoring`.
        has_model: Whether a language model was handed in.

    Raises:
        UsageError: One is missing.
    """
    if policy.relevance and policy.relevance.rerank:
        _check("nli", "relevance", scorers, has_model=has_model)
    if policy.contradictions:
        method = policy.contradictions.method
        _check(method, "contradiction", scorers, has_model=has_model)


def check_answering(
    policy: Policy, scorers: Mapping[Judge, Scorer], *, has_model: bool
) -> None:
    """See to it that the models are there for the answer, as `check_retrieving`."""
    if policy.grounding:
        method = policy.grounding.method
        _check(method, "entailment", scorers, has_model=has_model)
    if policy.contradictions:
        method = policy.contradictions.method
        _check(method, "contradiction", scorers, has_model=has_model)


def _check(
    method: str, name: Judge, scorers: Mapping[Judge, Scorer], *, has_model: bool
) -> None:
    """Check the model of a method: the pair's judge, the language model, or none."""
    if method == "nli" and scorers.get(name) is None:
        _refuse(name, _ARGUMENTS[name])
    if method == "llm" and not has_model:
        _refuse(name, "llm")


def _refuse(name: Judge, argument: str) -> None:
    raise UsageError(
        f"The policy asks for a model that judges {name}, and there is none.",
        hint=f"Pass `{argument}=`, or change the method in the policy.",
    )


def _callable(scorer: Scorer) -> Any:
    for name in ("score", "predict"):
        if callable(judge := getattr(scorer, name, None)):
            return judge
    if callable(scorer):
        return scorer
    raise UsageError("A scorer is a callable, or has `score` or `predict`.")
