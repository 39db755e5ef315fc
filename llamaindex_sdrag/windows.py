"""
How many tokens a model takes in, where LlamaIndex knows it: in the model's metadata.

Where nobody has set that number, LlamaIndex gives the same one for every model. It says
nothing of the model, so it counts only where somebody has set it.
"""

from __future__ import annotations

from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW
from llama_index.core.llms import LLM

__all__ = ["context_window"]

_NAME = "context_window"


def context_window(llm: LLM | None) -> int | None:
    """Return how many tokens a model takes in; nothing where nobody knows it."""
    if llm is None:
        return None
    metadata = llm.metadata
    window = metadata.context_window
    given = llm if _NAME in type(llm).model_fields else metadata
    if window == DEFAULT_CONTEXT_WINDOW and _NAME not in given.model_fields_set:
        return None
    return window if window > 0 else None
