"""
Ingest: mask what links people across the corpus, before it is split and indexed.

What links people is seen only in the whole corpus. So a masker either holds a plan
that was fitted on it, and applies that to whatever it is given; or it is told that what
it is given is the whole. A shard is never taken for the corpus silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import BaseNode, TextNode, TransformComponent
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import nodes_of, passage_of
from llamaindex_sdrag.effects import completing, embedding, model_name
from llamaindex_sdrag.tracing import cover
from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.engine.calls import Limits
from sdrag.engine.effect_runner import Ports
from sdrag.engine.steps import Steps
from sdrag.linkage.fitting import Fitted, check_whole, fit_steps
from sdrag.linkage.model_extractor import Extractor
from sdrag.policy import Policy, PolicySource
from sdrag.vocabulary import Passage
from sdrag.wrapper_setup import Audit, GuardRunner, policy_hash

__all__ = ["LinkageMasker"]


class LinkageMasker(TransformComponent):
    """
    Mask nodes before they are split and stored.

    Example:
        ```python
        masker = LinkageMasker(policy="policy.yaml", whole_corpus=True)
        IngestionPipeline(transformations=[masker, splitter, embed_model])
        ```

    Args:
        policy: A path, a mapping or a `Policy`.
        fitted: A plan that `fit` made of the whole corpus.
        whole_corpus: What is given in one call is the whole corpus: fit on it.
        detector: Finds entities; the local one by default.
        llm: For rewriting and for `ModelExtractor`.
        embeddings: Compares forms by meaning; MiniLM by default.
        key: For ids and pseudonyms that stay the same from run to run.
        audit: Takes the audit events.
        limits: The bounds of model calls.

    Raises:
        UsageError: Neither a plan nor `whole_corpus` was given, or both.
    """

    policy_hash: str
    engine_id: str

    _policy: Policy = PrivateAttr()
    _hook: GuardRunner = PrivateAttr()
    _detector: Detector | Extractor = PrivateAttr()
    _fitted: Fitted | None = PrivateAttr()
    _key: bytes | None = PrivateAttr()

    def __init__(
        self,
        *,
        policy: PolicySource,
        fitted: Fitted | None = None,
        whole_corpus: bool = False,
        detector: Detector | Extractor | None = None,
        llm: LLM | None = None,
        embeddings: BaseEmbedding | None = None,
        key: bytes | None = None,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        check_whole(fitted, whole_corpus=whole_corpus)
        read = Policy.read(policy)
        # The ingestion cache goes by the fields: a plan is one of its own.
        plan = "whole" if fitted is None else f"plan-{fitted.name}"
        fields: dict[str, Any] = {
            "policy_hash": policy_hash(read),
            "engine_id": f"{model_name(llm)}/{model_name(embeddings)}/{plan}",
        }
        super().__init__(**fields)
        self._policy, self._fitted, self._key = read, fitted, key
        self._detector = detector or LocalDetector()
        ports = Ports(complete=completing(llm), embed=embedding(embeddings))
        self._hook = GuardRunner.build(
            "mask", read, ports, audit=audit, limits=limits or Limits()
        )

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "LinkageMasker"

    def fit(self, nodes: Sequence[BaseNode]) -> Fitted:
        """Return the plan for a whole corpus, for other maskers to apply."""
        return self._hook.perform(self._steps(nodes), cover(self._policy))[0]

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """
        Mask the nodes.

        Returns:
            New nodes; those that could not be read to the end are left out.
        """
        if self._fitted is None:
            return _nodes(self.fit(nodes).masked.documents)
        steps = self._fitted.applying([passage_of(node) for node in nodes])
        return _nodes(self._hook.perform(steps, cover(self._policy))[0])

    # A span would hold the nodes.
    setattr(__call__, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def acall(
        self, nodes: Sequence[BaseNode], **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Mask the nodes without blocking the event loop."""
        hidden = cover(self._policy)
        if self._fitted is None:
            fitted, _ = await self._hook.aperform(self._steps(nodes), hidden)
            return _nodes(fitted.masked.documents)
        steps = self._fitted.applying([passage_of(node) for node in nodes])
        return _nodes((await self._hook.aperform(steps, hidden))[0])

    def _steps(self, nodes: Sequence[BaseNode]) -> Steps[Fitted]:
        passages = [passage_of(node) for node in nodes]
        return fit_steps(passages, self._policy.linkage, self._detector, key=self._key)

    def __repr__(self) -> str:
        return f"LinkageMasker(policy_hash={self.policy_hash!r})"

    __str__ = __repr__


def _nodes(passages: Sequence[Passage]) -> list[BaseNode]:
    return [TextNode.model_validate(s.node.model_dump()) for s in nodes_of(passages)]
