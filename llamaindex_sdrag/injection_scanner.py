"""
Ingest: keep passages that talk to the model out of the store.

The first of the two scans: it "catches known attack patterns but misses novel ones",
so the retriever scans once more. A stripped node is a copy without its vector and
without the keys in which sentence windows keep the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import BaseNode, TransformComponent
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import passage_of
from llamaindex_sdrag.tracing import cover
from sdrag.engine.calls import Limits
from sdrag.engine.effect_runner import Ports
from sdrag.engine.steps import Steps
from sdrag.guardrails.injection import screen
from sdrag.guardrails.screened import Screened
from sdrag.judges import Scorer, scoring
from sdrag.policy import InjectionSection, Policy, PolicySource
from sdrag.vocabulary import Passage
from sdrag.wrapper_setup import Audit, GuardRunner, Unpickled, policy_hash

__all__ = ["InjectionScanner"]

_COPIES_OF_TEXT = ("window", "original_text")


class InjectionScanner(Unpickled, TransformComponent):
    """
    Drop, strip or flag nodes that give orders, before they are stored.

    Example:
        ```python
        scanner = InjectionScanner(policy="policy.yaml")
        IngestionPipeline(transformations=[splitter, scanner, embed_model])
        ```

    Args:
        policy: Its section `injection` says what is done; its defaults hold without.
        classifier: Gives pairs of a text and nothing the probability of an injection.
        audit: Takes the audit events.
        limits: The bounds of the classifier's calls.
    """

    policy_hash: str
    engine_id: str

    _section: InjectionSection = PrivateAttr()
    _policy: Policy = PrivateAttr()
    _hook: GuardRunner = PrivateAttr()
    _asks: bool = PrivateAttr()

    def __init__(
        self,
        *,
        policy: PolicySource,
        classifier: Scorer = None,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        checked = Policy.read(policy)
        name = type(classifier).__name__ if classifier is not None else "local"
        fields: dict[str, Any] = {
            "policy_hash": policy_hash(checked),
            "engine_id": name,
        }
        super().__init__(**fields)
        ports = Ports(score=scoring({"injection": classifier}))
        self._policy = checked
        self._section = checked.injection or InjectionSection()
        self._hook = GuardRunner.build(
            "scan", checked, ports, audit=audit, limits=limits or Limits()
        )
        self._asks = classifier is not None

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "InjectionScanner"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """
        Scan nodes.

        Returns:
            Those that may be stored; a stripped one is a new node.
        """
        passages = tuple(map(passage_of, nodes))
        found, _ = self._hook.perform(self._steps(passages), cover(self._policy))
        return _kept(nodes, found)

    # A span would hold the nodes.
    setattr(__call__, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def acall(
        self, nodes: Sequence[BaseNode], **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Scan nodes without blocking the event loop."""
        passages = tuple(map(passage_of, nodes))
        found, _ = await self._hook.aperform(self._steps(passages), cover(self._policy))
        return _kept(nodes, found)

    def _steps(self, passages: Sequence[Passage]) -> Steps[Screened]:
        return screen(passages, self._section, classifier=self._asks)

    def __repr__(self) -> str:
        return f"InjectionScanner(policy_hash={self.policy_hash!r})"

    __str__ = __repr__


def _kept(nodes: Sequence[BaseNode], found: Screened) -> list[BaseNode]:
    """Pair what was kept with its nodes: both are in the same order."""
    kept: list[BaseNode] = []
    rest = iter(nodes)
    for passage in found.passages:
        node = next(one for one in rest if one.node_id == passage.id)
        kept.append(_stripped(node, passage))
    return kept


def _stripped(node: BaseNode, passage: Passage) -> BaseNode:
    before = passage_of(node)
    if (passage.text, passage.metadata) == (before.text, before.metadata):
        return node
    copy = node.model_copy(deep=True)
    copy.metadata = dict(passage.metadata)
    copy.embedding = None
    if passage.text != before.text:
        copy.set_content(passage.text)
        for key in _COPIES_OF_TEXT:
            copy.metadata.pop(key, None)
    return copy
