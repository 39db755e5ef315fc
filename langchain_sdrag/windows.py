"""How many tokens a model takes in, where LangChain knows it: in its profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.runnables import (
    Runnable,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase

__all__ = ["context_window"]


def context_window(llm: Runnable[Any, Any] | None) -> int | None:
    """
    Return how many tokens a model takes in; nothing where nobody knows it.

    Of several that may be asked in place of each other, it is the least.
    """
    return min(_windows(llm), default=None)


def _windows(llm: Runnable[Any, Any] | None) -> Iterator[int]:
    match llm:
        case RunnableBindingBase():
            yield from _windows(llm.bound)
        case RunnableWithFallbacks():
            for one in (llm.runnable, *llm.fallbacks):
                yield from _windows(one)
        case RunnableSequence():
            for step in llm.steps:
                yield from _windows(step)
        case _:
            profile = getattr(llm, "profile", None)
            window = profile.get("max_input_tokens") if isinstance(profile, dict) else 0
            if isinstance(window, int) and window > 0:
                yield window
