"""
The one line a LangChain application changes: its retriever, wrapped.

Everything from the question to the redacted documents happens inside: access, the
host's own retriever, staleness, relevance, the injection scan, redaction. Tracers and
callbacks see the question and what is released; of the raw documents they see nothing,
which no hook after the host's retriever can promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import Field, PrivateAttr

from langchain_sdrag.auditing import aannounce, announce
from langchain_sdrag.convert import documents_of
from langchain_sdrag.effects import Model
from langchain_sdrag.principals import OnBehalf, PrincipalResolver, on_behalf
from langchain_sdrag.searching import FilterTranslator, HostRetriever, searching
from langchain_sdrag.tracing import cover
from langchain_sdrag.vector_search import VectorSearch
from langchain_sdrag.wrapping import DisclosingWrapper, InForce
from sdrag.engine.calls import Limits
from sdrag.engine.host_search import HostSearch
from sdrag.errors import UsageError
from sdrag.judges import Scorer
from sdrag.pipeline import Request, retrieve
from sdrag.policy import Policy, PolicySource
from sdrag.principals import current_principal
from sdrag.state import StateSource
from sdrag.wrapper_setup import Audit, Authorizer, Escalate, asks_again

__all__ = ["SelectiveDisclosureRetriever"]


class SelectiveDisclosureRetriever(OnBehalf, DisclosingWrapper, BaseRetriever):
    """
    Retrieve what the policy lets be disclosed.

    Example:
        ```python
        retriever = SelectiveDisclosureRetriever(
            base_retriever=store.as_retriever(), policy="policy.yaml", llm=llm
        )
        ```

    Args:
        base_retriever: A retriever, or any runnable from a question to documents.
        policy: A path, a `PolicyFile`, a mapping or a `Policy`.
        k: How many documents are wanted; the host's own number by default. Can be
            given at call time too.
        llm: Finds what the constraints mean; without one, the local engine does.
        embeddings: Compares constraints with passages; the packaged MiniLM by default.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved.
        authorize: The host's own answer to who may see what.
        scorer: A cross-encoder, for a policy that reranks.
        classifier: Gives pairs of a text and nothing the probability of an injection.
        contradiction: Gives pairs of premise and hypothesis the probability that they
            contradict each other, where the policy says `method: nli`.
        escalate: Called where a contradiction withholds the answer.
        audit: Takes the audit events; by default the logger `sdrag.audit` does.
        limits: The bounds of model calls.
        principal_resolver: Finds the principal in the config of a call.
        filter_translator: Puts access conditions into the store's filter language.

    Raises:
        PolicyError: The policy cannot be read.
        HostError: At a call: the wrapped retriever failed.
    """

    base_retriever: Any = Field(exclude=True, repr=False, frozen=True)
    k: int | None = Field(default=None, ge=1)
    filter_translator: Any = Field(default=None, exclude=True, repr=False, frozen=True)

    _stage: str = PrivateAttr(default="retrieve")

    def __init__(
        self,
        *,
        base_retriever: HostRetriever,
        policy: PolicySource,
        k: int | None = None,
        llm: Model | None = None,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        authorize: Authorizer | None = None,
        scorer: Scorer = None,
        classifier: Scorer = None,
        contradiction: Scorer = None,
        escalate: Escalate | None = None,
        audit: Audit = None,
        limits: Limits | None = None,
        principal_resolver: PrincipalResolver | None = None,
        filter_translator: FilterTranslator | None = None,
        **runnable: Any,
    ) -> None:
        if not isinstance(base_retriever, Runnable):
            raise UsageError(
                f"A {type(base_retriever).__name__} is no LangChain retriever.",
                hint="Pass a retriever, such as `store.as_retriever()`.",
            )
        runnable.update(
            base_retriever=base_retriever,
            policy=Policy.read(policy),
            k=k,
            llm=llm,
            embeddings=embeddings,
            state=state,
            authorize=authorize,
            scorer=scorer,
            classifier=classifier,
            contradiction=contradiction,
            escalate=escalate,
            audit=audit,
            limits=limits,
            principal_resolver=principal_resolver,
            filter_translator=filter_translator,
        )
        super().__init__(**runnable)
        self._follow(policy)

    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Retrieve, on behalf of the principal of the call."""
        with on_behalf(config, self.principal_resolver):
            return super().invoke(input, config, **kwargs)

    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Retrieve, on behalf of the principal of the call."""
        with on_behalf(config, self.principal_resolver):
            return await super().ainvoke(input, config, **kwargs)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        **options: Any,
    ) -> list[Document]:
        child = run_manager.get_child()
        force = self._current()
        disclosure, event = force.hook.perform(
            retrieve(self._request(query, k), force.engine),
            cover(force.policy, child),
            self._searching(options, force),
        )
        announce(event, child)
        return documents_of(disclosure.passages)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        **options: Any,
    ) -> list[Document]:
        child = run_manager.get_child()
        force = await self._acurrent()
        disclosure, event = await force.hook.aperform(
            retrieve(self._request(query, k), force.engine),
            cover(force.policy, child),
            self._searching(options, force),
        )
        await aannounce(event, child)
        return documents_of(disclosure.passages)

    def _searching(self, options: Mapping[str, Any], force: InForce) -> HostSearch:
        again = asks_again(force.policy) and force.policy.tracing.inner == "hidden"
        by_vector = (
            VectorSearch.of(self.base_retriever, self.embeddings) if again else None
        )
        return searching(
            self.base_retriever, self.filter_translator, options, by_vector
        )

    def _request(self, query: str, k: int | None) -> Request:
        return Request(query, current_principal(), k or self.k)
