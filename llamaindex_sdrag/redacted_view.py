"""
Ingest: an index of what one audience may read, so that its vectors tell no more.

Nodes keep their ids, unless those hold what is withheld; their source is known by an
alias. Metadata is what may leave, with the keys that guards look at, which are kept out
of vectors and prompts. Wrap the retriever over this index all the same: constraints
come and go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
    TransformComponent,
)
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import passage_of
from llamaindex_sdrag.tracing import cover
from llamaindex_sdrag.wrapping import Setup
from sdrag.disclosure.audience_view import (
    DOCUMENT_KEY,
    View,
    control_keys,
    redacted_view,
)
from sdrag.engine.calls import Limits
from sdrag.engine.steps import Steps
from sdrag.policy import Policy, PolicySource, binds
from sdrag.state import StateSource
from sdrag.vocabulary import Passage, Principal
from sdrag.wrapper_setup import Audit, Unpickled

__all__ = ["RedactedView"]


class RedactedView(Unpickled, TransformComponent):
    """
    Redact nodes for an index of one audience.

    Example:
        ```python
        view = RedactedView(policy="policy.yaml")
        IngestionPipeline(transformations=[splitter, view, embed_model])
        ```

    Args:
        policy: A path, a mapping or a `Policy`.
        audience: A principal that stands for it; without one, every constraint holds.
        llm: Finds what the constraints mean; without one, the local engine does.
        embeddings: Compares constraints with passages; the packaged MiniLM by default.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved.
        audit: Takes the audit events.
        limits: The bounds of model calls.

    Raises:
        PolicyError: The policy cannot be read.
    """

    policy_hash: str
    engine_id: str

    _setup: Setup = PrivateAttr()
    _audience: Principal | None = PrivateAttr()

    def __init__(
        self,
        *,
        policy: PolicySource,
        audience: Principal | None = None,
        llm: LLM | None = None,
        embeddings: BaseEmbedding | None = None,
        state: StateSource = None,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        setup = Setup.build(
            "view",
            policy,
            llm=llm,
            embeddings=embeddings,
            state=state,
            audit=audit,
            limits=limits,
        )
        fields: dict[str, Any] = {
            "policy_hash": setup.policy_hash,
            "engine_id": "/".join(
                (setup.engine_id, *_audience(setup.policy, audience))
            ),
        }
        super().__init__(**fields)
        self._setup = setup
        self._audience = audience

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "RedactedView"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """
        Redact nodes; those of one document come together.

        Returns:
            New nodes, without vectors and without those that are withheld whole.
        """
        policy = self._setup.policy
        view, _ = self._setup.hook.perform(self._steps(nodes), cover(policy))
        return [self._node(passage) for passage in view.passages]

    # A span would hold the nodes.
    setattr(__call__, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def acall(
        self, nodes: Sequence[BaseNode], **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Redact nodes without blocking the event loop."""
        policy = self._setup.policy
        view, _ = await self._setup.hook.aperform(self._steps(nodes), cover(policy))
        return [self._node(passage) for passage in view.passages]

    def _steps(self, nodes: Sequence[BaseNode]) -> Steps[View]:
        passages = tuple(map(passage_of, nodes))
        return redacted_view(passages, self._audience, self._setup.engine.disclosure)

    def _node(self, passage: Passage) -> TextNode:
        kept_out = [*control_keys(self._setup.policy), DOCUMENT_KEY]
        node = TextNode(
            id_=passage.id,
            text=passage.text,
            metadata=dict(passage.metadata),
            excluded_llm_metadata_keys=kept_out,
            excluded_embed_metadata_keys=kept_out,
        )
        if passage.document_id is not None:
            source = RelatedNodeInfo(node_id=passage.document_id)
            node.relationships[NodeRelationship.SOURCE] = source
        return node

    def __repr__(self) -> str:
        return f"RedactedView(policy_hash={self.policy_hash!r})"

    __str__ = __repr__


def _audience(policy: Policy, audience: Principal | None) -> list[str]:
    """Name an audience for LlamaIndex's ingestion cache: by what binds it."""
    return [rule.id for rule in policy.rules if binds(rule, audience)]
