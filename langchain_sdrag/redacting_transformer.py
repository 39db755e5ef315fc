"""
Ingest: an index of what one audience may read, so that its vectors tell no more.

Documents keep their ids, unless those hold what is withheld; a document without an id
is given one. Metadata is what may leave, with the keys that guards look at. Wrap the
retriever over this index all the same: constraints come and go.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from langchain_sdrag.convert import documents_of, passages_of, with_id
from langchain_sdrag.models import Model
from langchain_sdrag.wrapping import LANGCHAIN, IngestWrapper
from sdrag.disclosure.disclose import AudienceView, redact_for_audience
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import Principal

__all__ = ["RedactingTransformer"]


class RedactingTransformer(IngestWrapper[AudienceView]):
    """
    Redact documents for an index of one audience.

    Example:
        ```python
        view = RedactingTransformer(policy="policy.yaml")
        visitors_store.add_documents(view.transform_documents(chunks))
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

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
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
            framework=LANGCHAIN,
        )
        super().__init__(engine)
        self._audience = audience

    def _steps(self, documents: Sequence[Document]) -> Steps[AudienceView]:
        passages = passages_of(map(with_id, documents))
        disclosure = self._engine.disclosure
        return (yield from redact_for_audience(passages, self._audience, disclosure))

    def _documents(
        self, documents: Sequence[Document], found: AudienceView
    ) -> list[Document]:
        """Return new documents, without those that are withheld whole."""
        return documents_of(found.passages)
