"""
The builder of test articles as a runnable, over any LangChain model.

It takes the folder to write to and returns what was built, so it fits into a chain, and
is stopped and run again, like any other runnable. What it writes is invented: its calls
of the model are shown to tracers as those of any chain.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from sdrag.engine.calls import attempt
from sdrag.engine.retrying import Retrying
from sdrag.engine.steps import replied
from sdrag.errors import UsageError
from sdrag.evaluation.builder import Built, build_articles

__all__ = ["ArticleBuilder"]


class ArticleBuilder(Runnable[str | Path, Built]):
    """
    Build articles in the format of the `rcqa` suite, into a folder.

    A run that was broken off goes on where it was when it is run again.

    Example:
        ```python
        built = ArticleBuilder(llm, count=20).invoke("articles")
        ```

    Args:
        llm: A chat model, a completion model, or any runnable that answers a text.
        count: How many topics.
        attempts: How often a call is made, and an article written, before it is given
            up.
        progress: Called with how many topics are done, and of how many.

    Raises:
        UsageError: There is nothing to build, or the folder holds something else.
        ModelError: The model failed, or named no topics; run again to go on.
    """

    def __init__(
        self,
        llm: Runnable[Any, Any],
        *,
        count: int = 20,
        attempts: int = 3,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        if count < 1 or attempts < 1:
            raise UsageError("At least one article is built, in at least one attempt.")
        self._llm, self._count = llm, count
        self._attempts, self._progress = attempts, progress

    def invoke(
        self,
        input: str | Path,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Built:
        """
        Build what is missing in the folder.

        Returns:
            The files of all articles, and the topics that were refused.
        """
        return self._call_with_config(self._built, input, config)

    def _built(self, folder: str | Path) -> Built:
        return build_articles(
            self._ask,
            Path(folder),
            count=self._count,
            attempts=self._attempts,
            progress=self._progress,
        )

    def _ask(self, prompt: str) -> str:
        retrying = Retrying(self._attempts)
        reply: object = replied(attempt(self._llm.invoke, prompt, retrying))
        return str(reply.text if isinstance(reply, BaseMessage) else reply)

    def __repr__(self) -> str:
        return f"ArticleBuilder(count={self._count})"
