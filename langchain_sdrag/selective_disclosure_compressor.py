"""
The hook after retrieval: redact documents that the host has already retrieved.

Use it in a `ContextualCompressionRetriever`, or pipe documents through it. The host
has emitted its own retrieval events by then, with raw documents in them: where tracers
must see nothing, wrap the retriever instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from langchain_core.callbacks import BaseCallbackManager, Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableSerializable

from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.models import Model
from langchain_sdrag.principals import principal_of
from langchain_sdrag.wrapping import Invoked, Work, Wrapper, enforce
from sdrag.effects.modes import Mode, run_sync, sync, wait
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, Stage
from sdrag.errors import UsageError
from sdrag.options import Options
from sdrag.pipeline import Disclosure, Request, disclose
from sdrag.policy import PolicySource
from sdrag.state import StateSource

__all__ = ["SelectiveDisclosureCompressor"]

Retrieved = Sequence[Document] | Mapping[str, Any]
"""Documents, or `{"context": documents, "question": str}`."""


class SelectiveDisclosureCompressor(
    Invoked[Retrieved, list[Document]],
    Wrapper,
    RunnableSerializable[Retrieved, list[Document]],
    BaseDocumentCompressor,
):
    """
    Keep of retrieved documents what the policy lets be disclosed.

    Example:
        ```python
        chain = retriever | SelectiveDisclosureCompressor(policy="policy.yaml")
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        llm: Finds what the constraints mean; without one, the local engine does.
        embeddings: Compares constraints with passages; the packaged MiniLM by default.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default.
        options: A detector, judges, sinks of audit events and the like.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: An argument is not what it must be.
    """

    _stage: ClassVar[Stage] = "disclose"

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
    ) -> None:
        super().__init__(policy, llm, embeddings, state, options)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
    ) -> list[Document]:
        """Redact documents that were retrieved for a query."""
        return run_sync(self._redact(sync, documents, query, callbacks))

    async def acompress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
    ) -> list[Document]:
        """Redact documents without blocking the event loop."""
        return await self._redact(wait, documents, query, callbacks)

    def _prepare(self, given: Retrieved) -> tuple[dict[str, int], Work]:
        documents: Any = given
        query = ""
        if isinstance(given, Mapping):
            documents, query = given.get("context", ()), str(given.get("question", ""))
        if not isinstance(documents, Sequence) or isinstance(documents, str):
            raise UsageError(
                "Documents are redacted, not a string made of them.",
                hint='Pass documents, or {"context": documents, "question": q}.',
            )

        async def redact(mode: Mode, run: BaseCallbackManager) -> list[Document]:
            return await self._redact(mode, documents, query, run)

        return {"documents": len(documents)}, redact

    async def _redact(
        self,
        mode: Mode,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None,
    ) -> list[Document]:
        engine, run = self.in_force(), None
        if isinstance(callbacks, BaseCallbackManager):
            run = callbacks
        request = Request(query, principal_of(None, self.resolver))
        disclosure = await enforce(
            mode, engine, _steps(documents, request, engine), run
        )
        return documents_of(disclosure.passages)


def _steps(
    documents: Sequence[Document], request: Request, engine: Engine
) -> Steps[Disclosure]:
    """Read the documents as a step, so that an error of it leaves without them."""
    return (yield from disclose(passages_of(documents), request, engine))
