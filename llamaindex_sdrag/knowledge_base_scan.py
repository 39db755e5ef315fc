"""
Before release: which stretches of a knowledge base a summarizer could obey.

Highlight & Summarize lets nothing but the corpus speak to the summarizer, so the corpus
can be searched for triggers in advance. Nothing is changed, and no model is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llama_index.core.schema import BaseNode

from llamaindex_sdrag.convert import passage_of
from sdrag.knowledge_base import Alarm, Judge, scan_passages
from sdrag.policy import PolicySource

__all__ = ["scan_knowledge_base"]


def scan_knowledge_base(
    nodes: Iterable[BaseNode],
    *,
    policy: PolicySource | None = None,
    judge: Judge | None = None,
) -> Iterator[Alarm]:
    """
    Yield what a summarizer could take as an order: id, span and score, without text.

    Example:
        ```python
        chunks = splitter.get_nodes_from_documents(documents)
        for alarm in scan_knowledge_base(chunks, policy="policy.yaml"):
            print(alarm)
        ```

    Args:
        nodes: All of the corpus, chunks of one document in their order; read one by
            one.
        policy: Its `highlight` section says what can be highlighted, and its
            `injection` section, if there is one, what reads like an order.
        judge: Looks at every window too; the highest score counts.

    Raises:
        PolicyError: The policy cannot be read.
    """
    passages = (passage_of(node) for node in nodes)
    return scan_passages(passages, policy, judge)
