"""
Selective disclosure: the retriever of a chain, wrapped, or a hook after it.

Everything from the question to the redacted documents happens inside the retriever:
access, the host's own retriever, staleness, relevance, the injection scan, redaction.
Tracers and callbacks see the question and what is released; of the raw documents they
see nothing, which no hook after the host's retriever can promise. By the time of the
compressor, the host has emitted its own retrieval events, with raw documents in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    BaseCallbackManager,
    CallbackManagerForRetrieverRun,
    Callbacks,
)
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from pydantic import Field

from langchain_sdrag.convert import documents_of, passage_of
from langchain_sdrag.models import Model
from langchain_sdrag.searching import FilteredRetriever, HostRetriever, search_with
from langchain_sdrag.wrapping import (
    OnBehalf,
    TracedRunnable,
    Work,
    Wrapper,
    enforce,
    on_behalf,
    principal_of,
    session_of,
)
from sdrag.configuration import Stage
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.engine import Engine
from sdrag.errors import UsageError, check_listed
from sdrag.options import Options
from sdrag.pipeline import Request, disclose, retrieve
from sdrag.policy import PolicySource
from sdrag.principals import acting_as, current_principal
from sdrag.state import StateSource
from sdrag.wrapper import DisclosureRetriever


class SelectiveDisclosureRetriever(
    DisclosureRetriever[HostRetriever, Model, Embeddings],
    OnBehalf,
    Wrapper,
    BaseRetriever,
    init=False,
):
    """
    Retrieve what the policy lets be disclosed.

    Example:
        ```python
        retriever = SelectiveDisclosureRetriever(
            base_retriever=store.as_retriever(), policy="policy.yaml", llm=llm
        )
        ```

    The retriever that it wraps may be any runnable from a question to documents. `k`
    can be given at call time too.
    """

    base_retriever: Any = Field(exclude=True, repr=False, frozen=True)
    k: int | None = Field(default=None, ge=1)

    _stage: ClassVar[Stage] = "retrieve"

    def _initialize(self, engine: Engine, fields: dict[str, Any]) -> None:
        base = fields["base_retriever"]
        if not isinstance(base, (Runnable, FilteredRetriever)):
            raise UsageError(
                f"`base_retriever` must be a LangChain retriever, got"
                f" {type(base).__name__}.",
                hint="Pass a retriever, such as `store.as_retriever()`.",
            )
        super()._initialize(engine, fields)

    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Retrieve, on behalf of the principal of the call."""
        with on_behalf(config, self.resolver):
            return super().invoke(input, config, **kwargs)

    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Retrieve, on behalf of the principal of the call."""
        with on_behalf(config, self.resolver):
            return await super().ainvoke(input, config, **kwargs)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        run = run_manager.get_child()
        return run_sync(self._retrieve(call_sync, query, run, **options))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **options: Any,
    ) -> list[Document]:
        run = run_manager.get_child()
        return await self._retrieve(call_async, query, run, **options)

    async def _retrieve(
        self,
        do: Caller,
        query: str,
        run: BaseCallbackManager,
        k: int | None = None,
        **options: Any,
    ) -> list[Document]:
        engine = self.in_force()
        hidden = engine.policy.tracing.inner == "hidden"
        search = search_with(self.base_retriever, options, hidden=hidden)
        request = Request(query, current_principal(), k or self.k)
        steps = retrieve(request, engine)
        disclosure = await enforce(do, engine, steps, run, search)
        return documents_of(disclosure.passages)


Retrieved = Sequence[Document] | Mapping[str, Any]
"""Documents, or `{"context": documents, "question": str}`."""


class SelectiveDisclosureCompressor(
    TracedRunnable[Retrieved, list[Document]],
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
        self._set_up(policy, llm, embeddings, state, options)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
    ) -> list[Document]:
        """Redact documents that were retrieved for a query."""
        return run_sync(self._redact(call_sync, documents, query, callbacks))

    async def acompress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
    ) -> list[Document]:
        """Redact documents without blocking the event loop."""
        return await self._redact(call_async, documents, query, callbacks)

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

        async def redact(do: Caller, run: BaseCallbackManager) -> list[Document]:
            return await self._redact(do, documents, query, run)

        return {"documents": len(documents)}, redact

    async def _redact(
        self,
        do: Caller,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None,
    ) -> list[Document]:
        check_listed(documents, "documents")
        engine, run = self.in_force(), None
        if isinstance(callbacks, BaseCallbackManager):
            run = callbacks
        principal, session = principal_of(None, self.resolver), session_of(None)
        request = Request(query, principal, session_id=session)
        steps = disclose(map(passage_of, documents), request, engine)
        with acting_as(principal, session):
            disclosure = await enforce(do, engine, steps, run)
        return documents_of(disclosure.passages)
