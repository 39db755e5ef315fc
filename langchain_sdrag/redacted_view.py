"""
Ingest: an index of what one audience may read, so that its vectors tell no more.

Documents keep their ids, unless those hold what is withheld; a document without an id
is given one. Metadata is what may leave, with the keys that guards look at. Wrap the
retriever over this index all the same: constraints come and go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings

from langchain_sdrag.constraint_binder import named_document
from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.effects import Model, completing, embedding, model_name
from langchain_sdrag.tracing import cover
from langchain_sdrag.windows import context_window
from sdrag.disclosure.audience_view import View, redacted_view
from sdrag.engine.calls import Limits
from sdrag.engine.effect_runner import Ports
from sdrag.engine.steps import Steps
from sdrag.pipeline import Engine
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import Principal
from sdrag.wrapper_setup import Audit, GuardRunner, Unpickled

__all__ = ["RedactedView"]


class RedactedView(Unpickled, BaseDocumentTransformer):
    """
    Redact documents for an index of one audience.

    Example:
        ```python
        view = RedactedView(policy="policy.yaml")
        visitors_store.add_documents(view.transform_documents(chunks))
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

    def __init__(
        self,
        *,
        policy: PolicySource,
        audience: Principal | None = None,
        llm: Model | None = None,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        self._policy = Policy.read(policy)
        self._audience = audience
        self._engine = Engine.build(
            self._policy,
            has_model=llm is not None,
            model_id=model_name(llm),
            state=state,
            window=context_window(llm),
        )
        ports = Ports(complete=completing(llm), embed=embedding(embeddings))
        self._hook = GuardRunner.build(
            "view",
            self._policy,
            ports,
            audit=audit,
            limits=limits,
            state=self._engine.disclosure.state,
        )

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """
        Redact documents; those of one source come together.

        Returns:
            New documents, without those that are withheld whole.
        """
        view, _ = self._hook.perform(self._steps(documents), cover(self._policy, None))
        return documents_of(view.passages)

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Redact documents without blocking the event loop."""
        view, _ = await self._hook.aperform(
            self._steps(documents), cover(self._policy, None)
        )
        return documents_of(view.passages)

    def _steps(self, documents: Sequence[Document]) -> Steps[View]:
        named = [named_document(document) for document in documents]
        return redacted_view(
            passages_of(named), self._audience, self._engine.disclosure
        )

    def __repr__(self) -> str:
        return f"RedactedView(policy_hash={self._hook.policy_hash!r})"
