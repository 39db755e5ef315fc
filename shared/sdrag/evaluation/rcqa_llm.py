"""
Where a model stands: its figures beside those of the local engine and of the best.

The same questions are asked of the same texts three times: with the model, with the
local engine alone, and with a model that is always right. What the model is worth is
what lies between the two others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sdrag.evaluation.rcqa import FIGURES, Answer, RcqaSettings, evaluate_rcqa
from sdrag.evaluation.scripted import scripted_model

__all__ = ["EXACT", "evaluate_rcqa_with_model"]

EXACT = "scripted:exact"
"""Names the model that is always right."""


def evaluate_rcqa_with_model(
    articles: Sequence[Mapping[str, Any]],
    settings: RcqaSettings,
    look: Callable[[Sequence[Answer]], None] = lambda _answers: None,
) -> dict[str, Any]:
    """
    Measure a model, and what it can be compared with.

    Args:
        articles: As in the paper's listing.
        settings: How, with the model.
        look: Is handed the model's answers.

    Returns:
        What `evaluate_rcqa` does, for the model; under `beside`, the same figures of
        the answers for `local` and for `exact`.
    """
    own = evaluate_rcqa(articles, settings, look)
    local = evaluate_rcqa(articles, _with(settings, None, ""))
    exact = own
    if settings.model_id != EXACT:
        oracle = scripted_model("exact", articles, settings.planting)
        exact = evaluate_rcqa(articles, _with(settings, oracle, EXACT))
    beside = {
        name: {figure: told[figure] for figure in FIGURES}
        for name, told in (("local", local), ("exact", exact))
    }
    return {**own, "beside": beside}


def _with(settings: RcqaSettings, complete: Any, model_id: str) -> RcqaSettings:
    return replace(settings, complete=complete, model_id=model_id, window=None)
