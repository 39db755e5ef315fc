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

from langchain_sdrag.auditing import aannounce, announce
from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.effects import Model
from langchain_sdrag.principals import OnBehalf, on_behalf, principal_of
from langchain_sdrag.tracing import hide_from_tracers
from langchain_sdrag.wrapping import DisclosingWrapper
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
    DisclosingWrapper,
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
        child = callbacks if isinstance(callbacks, BaseCallbackManager) else None
        engine = self.in_force()
        disclosure, event = engine.run(
            self._steps(documents, self._request(query), engine),
            hide_from_tracers(engine.policy, child),
        )
        announce(event, child)
        return documents_of(disclosure.passages)

    async def acompress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
    ) -> list[Document]:
        """Redact documents without blocking the event loop."""
        child = callbacks if isinstance(callbacks, BaseCallbackManager) else None
        engine = self.in_force()
        disclosure, event = await engine.arun(
            self._steps(documents, self._request(query), engine),
            hide_from_tracers(engine.policy, child),
        )
        await aannounce(event, child)
        return documents_of(disclosure.passages)

    def invoke(
        self, input: Retrieved, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Redact documents; the run's own trace holds their number only."""
        documents, query = _parts(input)

        def work(_: object, run_manager: Any) -> list[Document]:
            return self.compress_documents(documents, query, run_manager.get_child())

        with on_behalf(config, self.principal_resolver):
            return self._call_with_config(work, {"documents": len(documents)}, config)

    async def ainvoke(
        self, input: Retrieved, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Redact documents without blocking the event loop."""
        documents, query = _parts(input)

        async def work(_: object, run_manager: Any) -> list[Document]:
            child = run_manager.get_child()
            return await self.acompress_documents(documents, query, child)

        with on_behalf(config, self.principal_resolver):
            return await self._acall_with_config(
                work, {"documents": len(documents)}, config
            )

    def _steps(
        self, documents: Sequence[Document], request: Request, engine: Engine
    ) -> Steps[Disclosure]:
        """Read the documents as a step, so that an error of it leaves without them."""
        return (yield from disclose(passages_of(documents), request, engine))

    def _request(self, query: str) -> Request:
        return Request(query, principal_of(None, self.principal_resolver))


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
