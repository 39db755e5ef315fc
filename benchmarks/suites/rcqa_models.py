"""
What a model is worth: its figures next to those of the local engine and of the best.

The same questions are asked of the same texts three times: with the model, with the
local engine alone, and with a model that is always right. What the model is worth is
what lies between the two others.

Scripted models know the witness words of each article, so they know what is measured.
One is exact: no model can reach more than it does. The others are that one, made to
stumble or to obey the orders that were planted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.suites.planting import Planting
from benchmarks.suites.rcqa import FIGURES, RcqaAnswer, RcqaSettings, evaluate_rcqa
from benchmarks.suites.scripted.exact import ExactModel
from benchmarks.suites.scripted.hijacked import HijackedModel
from benchmarks.suites.scripted.stumbling import StumblingModel
from benchmarks.suites.scripted.witness_words import Protected
from sdrag.effects.prompts import Prompt
from sdrag.errors import UsageError

__all__ = ["EXACT", "SCRIPTED", "evaluate_rcqa_with_model", "scripted_model"]

EXACT = "scripted:exact"
"""Names the model that is always right."""

SCRIPTED = ("exact", "stumbling", "hijacked")
"""The names of the scripted models."""


def evaluate_rcqa_with_model(
    articles: Sequence[Mapping[str, Any]],
    settings: RcqaSettings,
    look: Callable[[Sequence[RcqaAnswer]], None] = lambda _answers: None,
) -> dict[str, Any]:
    """
    Measure a model, and what it can be compared with.

    Args:
        articles: As in the paper's listing.
        settings: How, with the model.
        look: Is handed the model's answers.

    Returns:
        What `evaluate_rcqa` does, for the model; under `compared`, the same figures of
        the answers for `local` and for `exact`.
    """
    figures = evaluate_rcqa(articles, settings, look)
    local = evaluate_rcqa(articles, _with(settings, None, ""))
    exact = figures
    if settings.model_id != EXACT:
        oracle = scripted_model("exact", articles, settings.planting)
        exact = evaluate_rcqa(articles, _with(settings, oracle, EXACT))
    compared = {
        name: {figure: result[figure] for figure in FIGURES}
        for name, result in (("local", local), ("exact", exact))
    }
    return {**figures, "compared": compared}


def _with(settings: RcqaSettings, complete: Any, model_id: str) -> RcqaSettings:
    return replace(settings, complete=complete, model_id=model_id, window=None)


def scripted_model(
    name: str, articles: Sequence[Mapping[str, Any]], planting: Planting | None = None
) -> Callable[[Prompt], str]:
    """
    Return a scripted model.

    Args:
        name: `exact`, `stumbling` or `hijacked`.
        articles: As in the paper's listing; the model knows their witness words.
        planting: The orders that are in them; none when missing.

    Raises:
        UsageError: There is none of that name.
    """
    if name not in SCRIPTED:
        raise UsageError(f"A scripted model is one of {', '.join(SCRIPTED)}.")
    planted = planting or Planting()
    exact = ExactModel(
        Protected(article["constraint_to_witness_words"], planted.text(article, number))
        for number, article in enumerate(articles)
    )
    if name == "stumbling":
        return StumblingModel(exact)
    if name == "hijacked":
        return HijackedModel(exact, planted.orders)
    return exact
