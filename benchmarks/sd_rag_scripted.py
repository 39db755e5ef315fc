"""
The scripted models of the SD-RAG benchmark: what a host's model would be asked.

None of them understands anything. One returns exactly the right spans, so that what is
left is not the model's doing; one takes its time and finds nothing; one summarizes by
leaving out every second chunk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.suites.scripted.exact import ExactModel
from sdrag.effects.prompts import Prompt

__all__ = ["every_second", "nothing_found", "right_spans"]


def right_spans(articles: Sequence[Mapping[str, Any]]) -> Callable[[Prompt], str]:
    """Return a model that finds every witness word, and frees all else."""
    return ExactModel(
        {
            rule: words
            for article in articles
            for rule, words in article["constraint_to_witness_words"].items()
        }
    )


def nothing_found(seconds: float) -> Callable[[Prompt], str]:
    """Return a model that takes so long for every call, finds and frees nothing."""
    model = ExactModel({})

    def complete(prompt: Prompt) -> str:
        time.sleep(seconds)
        return model(prompt)

    return complete


def every_second(prompt: Prompt) -> str:
    """Summarize as a script can: by every second chunk."""
    text = prompt.messages[-1].content.text.removeprefix("Text:\n")
    return " ".join(text.split("\n\n")[::2])
