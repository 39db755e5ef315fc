"""
The scripted models of the SD-RAG benchmark: what a host's model would be asked.

None of them understands anything. One returns exactly the right spans, so that what is
left is not the model's doing; one takes its time and finds nothing; one summarizes by
leaving out every second chunk.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdrag.evaluation.witnesses import witness_spans
from sdrag.prompts import Prompt

__all__ = ["every_second", "nothing_found", "right_spans"]

_ASKED = re.compile(r"^\[([\w.:-]+)\] (.*)$", re.MULTILINE)
_TEXT = re.compile(r"^(==[0-9a-f]{16}==)\n(.*)\n\1", re.MULTILINE | re.DOTALL)


def right_spans(articles: Sequence[Mapping[str, Any]]) -> Callable[[Prompt], str]:
    """Return a model that finds every witness word, and rephrases nothing."""
    witnesses = {
        rule: words
        for article in articles
        for rule, words in article["constraint_to_witness_words"].items()
    }

    def complete(prompt: Prompt) -> str:
        text = _text(prompt)
        if prompt.name == "disclosure.rephrase":
            return text
        return _verdicts(
            {
                name: [span.of(text) for span in witness_spans(text, witnesses[rule])]
                for name, rule in _asked(prompt)
            }
        )

    return complete


def nothing_found(seconds: float) -> Callable[[Prompt], str]:
    """Return a model that takes so long for every call, and finds nothing."""

    def complete(prompt: Prompt) -> str:
        time.sleep(seconds)
        if prompt.name == "disclosure.rephrase":
            return _text(prompt)
        return _verdicts({name: () for name, _ in _asked(prompt)})

    return complete


def every_second(prompt: Prompt) -> str:
    """Summarize as a script can: by every second chunk."""
    text = prompt.messages[-1].content.text.removeprefix("Text:\n")
    return " ".join(text.split("\n\n")[::2])


def _asked(prompt: Prompt) -> list[tuple[str, str]]:
    """Return the ids and texts of the constraints in a prompt."""
    return _ASKED.findall(prompt.messages[-1].content.text.split("\nText")[0])


def _text(prompt: Prompt) -> str:
    """Return the text between a prompt's marks."""
    return str(_TEXT.findall(prompt.messages[-1].content.text)[-1][1])


def _verdicts(spans: Mapping[str, Sequence[str]]) -> str:
    listed = [{"constraint": name, "spans": found} for name, found in spans.items()]
    return json.dumps({"verdicts": listed})
