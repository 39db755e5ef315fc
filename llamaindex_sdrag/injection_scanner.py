"""
Ingest: keep passages that talk to the model out of the store.

The first of the two scans: it "catches known attack patterns but misses novel ones",
so the retriever scans once more. A stripped node is a copy without its vector and
without the keys in which sentence windows keep the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.schema import BaseNode
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import passage_of
from llamaindex_sdrag.node_templates import DEFAULT_TEMPLATES
from llamaindex_sdrag.wrapping import LLAMAINDEX, IngestWrapper
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.guardrails.injection import screen
from sdrag.guardrails.screened import Screened
from sdrag.options import Options
from sdrag.policy import InjectionSection, PolicySource
from sdrag.vocabulary import Passage

__all__ = ["InjectionScanner"]

_COPIES_OF_TEXT = ("window", "original_text")


class InjectionScanner(IngestWrapper[Screened]):
    """
    Drop, strip or flag nodes that give orders, before they are stored.

    Example:
        ```python
        scanner = InjectionScanner(policy="policy.yaml")
        IngestionPipeline(transformations=[splitter, scanner, embed_model])
        ```

    Args:
        policy: Its section `injection` says what becomes of a passage.
        options: A judge under `injection`, sinks of audit events, and limits.

    Raises:
        PolicyError: The policy cannot be read.
    """

    _has_judge: bool = PrivateAttr()

    def __init__(self, policy: PolicySource, options: Options | None = None) -> None:
        engine = Engine(policy, options=options, stage="scan", framework=LLAMAINDEX)
        super().__init__(engine, engine.identity)
        self._has_judge = "injection" in engine.options.judges

    def _steps(self, nodes: Sequence[BaseNode]) -> Steps[Screened]:
        section = self._engine.policy.injection or InjectionSection()
        passages = tuple(map(passage_of, nodes))
        return (yield from screen(passages, section, classifier=self._has_judge))

    def _nodes(self, nodes: Sequence[BaseNode], found: Screened) -> Sequence[BaseNode]:
        """Return those that may be stored; a stripped one is a new node."""
        # What was kept and the nodes it is of are in the same order.
        kept: list[BaseNode] = []
        rest = iter(nodes)
        for passage in found.passages:
            node = next(one for one in rest if one.node_id == passage.id)
            kept.append(_stripped(node, passage))
        return kept


def _stripped(node: BaseNode, passage: Passage) -> BaseNode:
    before = passage_of(node)
    if passage == before:
        return node
    copy = node.model_copy(deep=True)
    if passage.frame != before.frame:
        for name, template in DEFAULT_TEMPLATES.items():
            setattr(copy, name, template)
    copy.metadata = dict(passage.metadata)
    copy.embedding = None
    if passage.text != before.text:
        copy.set_content(passage.text)
        for key in _COPIES_OF_TEXT:
            copy.metadata.pop(key, None)
    return copy
