"""
The scripted models of the evaluation, by the names that the command line takes.

They are told the witness words of each article, so they know what is measured. One is
exact: what it reaches is the most that any model could. The others are that one, made
to stumble or to obey the orders that were planted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdrag.engine.prompts import Prompt
from sdrag.errors import UsageError
from sdrag.evaluation.planting import Planting
from sdrag.testing import ExactModel, HijackedModel, Protected, StumblingModel

__all__ = ["SCRIPTED", "scripted_model"]

SCRIPTED = ("exact", "stumbling", "hijacked")
"""What there is."""


def scripted_model(
    name: str, articles: Sequence[Mapping[str, Any]], planting: Planting | None = None
) -> Callable[[Prompt], str]:
    """
    Return a scripted model.

    Args:
        name: `exact`, `stumbling` or `hijacked`.
        articles: As in the paper's listing; the model knows their witness words.
        planting: The orders that stand in them; none when missing.

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
