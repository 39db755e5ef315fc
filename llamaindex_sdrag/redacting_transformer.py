"""
Ingest: an index of what one audience may read, so that its vectors tell no more.

Nodes keep their ids, unless those hold what is withheld; their source is known by an
alias. Metadata is what may leave, with the keys that guards look at, which are kept out
of vectors and prompts. So are the keys that the host keeps out of them, and its
templates stay where they may leave. Wrap the retriever over this index all the same:
constraints come and go.
"""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
)
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import nodes_of, passage_of
from llamaindex_sdrag.wrapping import LLAMAINDEX, IngestWrapper
from sdrag.disclosure.disclose import (
    DOCUMENT_KEY,
    AudienceView,
    control_keys,
    redact_for_audience,
)
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.options import Options
from sdrag.policy import PolicySource, binds
from sdrag.state import StateSource
from sdrag.vocabulary import Passage, Principal

__all__ = ["RedactingTransformer"]


class RedactingTransformer(IngestWrapper[AudienceView]):
    """
    Redact nodes for an index of one audience.

    Example:
        ```python
        view = RedactingTransformer(policy="policy.yaml")
        IngestionPipeline(transformations=[splitter, view, embed_model])
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        audience: A principal that represents it; without one, every constraint holds.
        llm: Finds what the constraints mean; without one, the local engine does.
        embeddings: Compares constraints with passages; the packaged MiniLM by default.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved. A worker of Ray is given
            batches, so it needs the state of a binding that is complete.
        options: A detector, sinks of audit events, and limits.

    Raises:
        PolicyError: The policy cannot be read.
    """

    _audience: Principal | None = PrivateAttr()

    def __init__(
        self,
        policy: PolicySource,
        llm: LLM | None = None,
        *,
        embeddings: BaseEmbedding | None = None,
        state: StateSource = None,
        options: Options | None = None,
        audience: Principal | None = None,
    ) -> None:
        engine = Engine(
            policy,
            llm,
            embeddings,
            state,
            options,
            stage="view",
            framework=LLAMAINDEX,
        )
        # For the ingestion cache, an audience is what binds it.
        binding = [rule.id for rule in engine.policy.rules if binds(rule, audience)]
        super().__init__(engine, "/".join((engine.identity, *binding)))
        self._audience = audience

    def _steps(self, nodes: Sequence[BaseNode]) -> Steps[AudienceView]:
        passages = tuple(map(passage_of, nodes))
        disclosure = self._engine.disclosure
        return (yield from redact_for_audience(passages, self._audience, disclosure))

    def _nodes(
        self, nodes: Sequence[BaseNode], found: AudienceView
    ) -> Sequence[BaseNode]:
        """Return new nodes, without vectors and those that are withheld whole."""
        hosts = [NodeWithScore(node=node) for node in nodes]
        made = nodes_of(found.passages, None, hosts)
        return [
            self._node(scored.node, passage)
            for scored, passage in zip(made, found.passages, strict=True)
        ]

    def _node(self, node: BaseNode, passage: Passage) -> BaseNode:
        kept_out = [*control_keys(self._engine.policy), DOCUMENT_KEY]
        node.excluded_llm_metadata_keys += kept_out
        node.excluded_embed_metadata_keys += kept_out
        if passage.document_id is not None:
            source = RelatedNodeInfo(node_id=passage.document_id)
            node.relationships[NodeRelationship.SOURCE] = source
        return node
