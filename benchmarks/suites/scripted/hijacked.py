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

_SHORTEST = 12
"""Characters; what is shorter is in texts by accident."""


class HijackedModel(Confidential):
    """
    A model that obeys orders in the text.

    Args:
        wrapped: Answers where there is no order.
        orders: What was planted. One sentence of an order is enough to be obeyed.
    """

    def __init__(self, wrapped: Callable[[Prompt], str], orders: Iterable[str]) -> None:
        self._wrapped = wrapped
        self._orders = {part for order in orders for part in _parts(order)}

    def __call__(self, prompt: Prompt) -> str:
        """Answer a prompt of redaction."""
        text = fold_text(shown(prompt))
        if not any(order in text for order in self._orders):
            return self._wrapped(prompt)
        asked = read_prompt(prompt)
        if isinstance(asked, Extracting):
            return asked.write(dict.fromkeys(asked.constraints, ()))
        if isinstance(asked, Confirming):
            answers = [
                {"question": question.id, "no": list(question.constraints)}
                for question in asked.questions
            ]
            return json.dumps({"answers": answers})
        return asked.text


def _parts(order: str) -> Iterable[str]:
    """Return an order's sentences: a prompt may show one of them alone."""
    parts = [fold_text(span.of(order)) for span in sentences(order)]
    long_enough = [part for part in parts if len(part) >= _SHORTEST]
    return long_enough or [fold_text(order)]
