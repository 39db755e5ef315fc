"""
The model that obeys what it reads: the worst that orders in a text can make of one.

Where an order is in what a prompt shows, it says no to everything: nothing has to
go, all that was marked is harmless, and a text is said again as it is. Elsewhere it
answers as the model it was made from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from benchmarks.suites.scripted.asked import Confirming, Extracting, read_prompt, shown
from sdrag.effects.prompts import Prompt
from sdrag.text.folding import fold_text
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential

__all__ = ["HijackedModel"]

_SHORTEST = 12
"""Characters; what is shorter is in texts by accident."""


class HijackedModel(Confidential):
    """
    A model that obeys orders in the text.

    Args:
        wrapped: Answers where there is no order.
        orders: What was planted. One sentence of an order is enough to be obeyed.
        is_order: Says whether a text gives orders, where they are not known
            beforehand; it is shown all that a prompt shows.
    """

    __slots__ = ("_is_order", "_orders", "_wrapped")

    def __init__(
        self,
        wrapped: Callable[[Prompt], str],
        orders: Iterable[str] = (),
        is_order: Callable[[str], bool] | None = None,
    ) -> None:
        self._wrapped = wrapped
        self._orders = tuple(
            dict.fromkeys(p for order in orders for p in _parts(order))
        )
        self._is_order = is_order

    def __call__(self, prompt: Prompt) -> str:
        """
        Answer a prompt of redaction.

        Args:
            prompt: Of extraction, confirmation or rephrasing.
        """
        if not self._obeys(shown(prompt)):
            return self._wrapped(prompt)
        asked = read_prompt(prompt)
        if isinstance(asked, Extracting):
            verdicts = [{"constraint": name, "spans": []} for name in asked.constraints]
            return json.dumps({"verdicts": verdicts})
        if isinstance(asked, Confirming):
            answers = [
                {"question": question.id, "no": list(question.constraints)}
                for question in asked.questions
            ]
            return json.dumps({"answers": answers})
        return asked.text

    def _obeys(self, text: str) -> bool:
        folded = fold_text(text)
        if any(order in folded for order in self._orders):
            return True
        return self._is_order is not None and self._is_order(text)


def _parts(order: str) -> Iterable[str]:
    """Return an order's sentences: a prompt may show one of them alone."""
    parts = [fold_text(span.of(order)) for span in sentences(order)]
    long_enough = [part for part in parts if len(part) >= _SHORTEST]
    return long_enough or [fold_text(order)]
