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
from langchain_core.runnables import RunnableConfig, RunnableSerializable

from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.models import Model
from langchain_sdrag.principals import OnBehalf, on_behalf, principal_of
from langchain_sdrag.wrapping import Wrapper, enforce
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
    OnBehalf,
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

    def invoke(
        self, input: Retrieved, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Redact documents; the run's own trace holds their number only."""
        documents, query = _parts(input)

        def work(_: object, run_manager: Any) -> list[Document]:
            return self.compress_documents(documents, query, run_manager.get_child())

        with on_behalf(config, self.resolver):
            return self._call_with_config(work, {"documents": len(documents)}, config)

    async def ainvoke(
        self, input: Retrieved, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Redact documents without blocking the event loop."""
        documents, query = _parts(input)

        async def work(_: object, run_manager: Any) -> list[Document]:
            child = run_manager.get_child()
            return await self.acompress_documents(documents, query, child)

        with on_behalf(config, self.resolver):
            return await self._acall_with_config(
                work, {"documents": len(documents)}, config
            )

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


def _parts(value: Retrieved) -> tuple[Sequence[Document], str]:
    if isinstance(value, Mapping):
        documents, query = value.get("context"), value.get("question", "")
    else:
        documents, query = value, ""
    if not isinstance(documents, Sequence) or isinstance(documents, str):
        raise UsageError(
            "Documents are redacted, not a string made of them.",
            hint='Pass a list of documents, or {"context": documents, "question": q}.',
        )
    return documents, str(query)
