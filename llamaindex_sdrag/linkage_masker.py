"""
Ingest: mask what links people across the corpus, before it is split and indexed.

What links people is seen only in the whole corpus. So a masker either holds a plan
that was fitted on it, and applies that to whatever it is given; or the host says that
what it is given is the whole. A shard is never taken for the corpus silently.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, cast

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import BaseNode, TextNode
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import nodes_of, passage_of
from llamaindex_sdrag.wrapping import LLAMAINDEX, IngestWrapper
from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.linkage.extractor import Extractor
from sdrag.linkage.fitting import Fitted, Update, check_masker, fit_steps, plan_of
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.vocabulary import Passage

__all__ = ["LinkageMasker"]


class LinkageMasker(IngestWrapper[Sequence[Passage]]):
    """
    Mask nodes before they are split and stored.

    Example:
        ```python
        masker = LinkageMasker(policy="policy.yaml", whole_corpus=True)
        IngestionPipeline(transformations=[masker, splitter, embed_model])
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        fitted: A plan that `fit` made of the whole corpus. It is applied as it is: what
            `linkage` says in the policy is what it was fitted with.
        whole_corpus: What is given in one call is the whole corpus: fit on it. A worker
            of Ray is given batches, and refuses.
        detector: Finds entities; the local one by default.
        llm: For rewriting and for `ModelExtractor`.
        embeddings: Compares forms by meaning; MiniLM by default.
        key: For ids and pseudonyms that stay the same from run to run.
        options: A detector, sinks of audit events, and limits.

    Raises:
        UsageError: Neither a plan nor `whole_corpus` was given, or both; or what is to
            be put in place of values needs a key or a model that is missing.
    """

    _fitted: Fitted | None = PrivateAttr()
    _detector: Any = PrivateAttr()
    _key: bytes | None = PrivateAttr()

    def __init__(
        self,
        policy: PolicySource,
        llm: LLM | None = None,
        *,
        embeddings: BaseEmbedding | None = None,
        options: Options | None = None,
        fitted: Fitted | None = None,
        whole_corpus: bool = False,
        detector: Detector | Extractor | None = None,
        key: bytes | None = None,
    ) -> None:
        options = options or Options()
        if detector is not None:  # caches go by its name
            options = replace(options, detector=cast("Any", detector))
        engine = Engine(
            policy,
            llm,
            embeddings,
            options=options,
            stage="mask",
            framework=LLAMAINDEX,
        )
        check_masker(
            fitted,
            engine.policy.linkage,
            key,
            whole_corpus=whole_corpus,
            has_model=llm is not None,
        )
        # The ingestion cache goes by the fields: a plan is one of its own.
        plan = "whole" if fitted is None else f"plan-{fitted.masked.masker.name}"
        super().__init__(engine, f"{engine.identity}/{plan}")
        self._fitted, self._key = fitted, key
        self._detector = options.detector or LocalDetector()

    def fit(self, nodes: Sequence[BaseNode]) -> Fitted:
        """Return the plan for a whole corpus, for other maskers to apply."""
        return self._engine.run(self._fitting(nodes))[0]

    def update(
        self, nodes: Sequence[BaseNode], removed: Collection[str] = ()
    ) -> tuple[Update, list[BaseNode]]:
        """
        Follow a change of the corpus that the plan was fitted on.

        The masker stays as it is: build another one with `fitted=update.fitted`.

        Args:
            nodes: What is new, or replaces what has its id.
            removed: Ids of what is gone.

        Returns:
            The update, and what is to be indexed now, masked: the new nodes, and
            the earlier ones in which more is masked than before.

        Raises:
            UsageError: The masker has no plan.
        """
        update, _ = self._engine.run(self._updating(nodes, removed))
        return update, _made(update.documents)

    async def aupdate(
        self, nodes: Sequence[BaseNode], removed: Collection[str] = ()
    ) -> tuple[Update, list[BaseNode]]:
        """Follow a change without blocking the event loop; as `update`."""
        update, _ = await self._engine.arun(self._updating(nodes, removed))
        return update, _made(update.documents)

    def _updating(
        self, nodes: Sequence[BaseNode], removed: Collection[str]
    ) -> Steps[Update]:
        passages, plan = [*map(passage_of, nodes)], plan_of(self._fitted)
        return (yield from plan.updating(passages, removed, self._detector))

    def _steps(self, nodes: Sequence[BaseNode]) -> Steps[Sequence[Passage]]:
        if self._fitted is not None:
            return (yield from self._fitted.applying([*map(passage_of, nodes)]))
        fitted = yield from self._fitting(nodes)
        return fitted.masked.documents

    def _fitting(self, nodes: Sequence[BaseNode]) -> Steps[Fitted]:
        passages, linkage = [*map(passage_of, nodes)], self._engine.policy.linkage
        return (yield from fit_steps(passages, linkage, self._detector, key=self._key))

    def _nodes(
        self, nodes: Sequence[BaseNode], found: Sequence[Passage]
    ) -> Sequence[BaseNode]:
        """Return new nodes; those that could not be read whole are left out."""
        return _made(found)


def _made(found: Sequence[Passage]) -> list[BaseNode]:
    masked = nodes_of(found)
    return [TextNode.model_validate(one.node.model_dump()) for one in masked]
