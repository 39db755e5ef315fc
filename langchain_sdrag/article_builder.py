"""
The builder of test articles as a runnable, over any LangChain model.

It takes the folder to write to and returns what was built, so it stands in a chain, and
is stopped and run again, like any other runnable.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda

from sdrag.calls import attempt
from sdrag.evaluation.builder import Built, build_articles
from sdrag.steps import replied

__all__ = ["article_builder"]


def article_builder(
    llm: Runnable[Any, Any],
    *,
    count: int = 20,
    attempts: int = 3,
    progress: Callable[[int, int], None] | None = None,
) -> Runnable[Path, Built]:
    """
    Return a runnable that builds articles in the format of the `rcqa` suite.

    Example:
        ```python
        built = article_builder(llm, count=20).invoke(Path("articles"))
        ```

    Args:
        llm: A chat model, a completion model, or any runnable that answers a text.
        count: How many topics.
        attempts: How often a call is made, and an article written, before it is given
            up.
        progress: Told how many topics are done, and of how many.

    Raises:
        ModelError: The model failed, or named no topics; run again to go on.
    """

    def ask(prompt: str) -> str:
        reply: object = replied(attempt(llm.invoke, prompt, attempts))
        return str(reply.text if isinstance(reply, BaseMessage) else reply)

    def build(folder: Path) -> Built:
        return build_articles(
            ask, folder, count=count, attempts=attempts, progress=progress
        )

    return RunnableLambda(build, name="article_builder")
