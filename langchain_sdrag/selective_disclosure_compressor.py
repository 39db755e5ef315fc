"""
The hook after retrieval: redact documents that the host has already retrieved.

Use it in a `ContextualCompressionRetriever`, or pipe documents through it. The host
has emitted its own retrieval events by then, with raw documents in them: where tracers
must see nothing, wrap the retriever instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackManager, Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import PrivateAttr

from langchain_sdrag.auditing import aannounce, announce
from langchain_sdrag.convert import documents_of, passages_of
from langchain_sdrag.effects import Model
from langchain_sdrag.principals import (
    OnBehalf,
    PrincipalResolver,
    on_behalf,
    principal_of,
)
from langchain_sdrag.tracing import cover
from langchain_sdrag.wrapping import DisclosingWrapper, InForce
from sdrag.engine.calls import Limits
from sdrag.engine.steps import Steps
from sdrag.errors import UsageError
from sdrag.judges import Scorer
from sdrag.pipeline import Disclosure, Request, disclose
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource
from sdrag.wrapper_setup import Audit, Authorizer, Escalate

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
        policy: A path, a `PolicyFile`, a mapping or a `Policy`.
        llm: As for `SelectiveDisclosureRetriever`, like all that follow.
        embeddings: Compares constraints with passages.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved.
        authorize: The host's own answer to who may see what.
        scorer: A cross-encoder, for a policy that reranks.
        classifier: Gives pairs of a text and nothing the probability of an injection.
        contradiction: Gives pairs of premise and hypothesis the probability that they
            contradict each other, where the policy says `method: nli`.
        escalate: Called where a contradiction withholds the answer.
        audit: Takes the audit events.
        limits: The bounds of model calls.
        principal_resolver: Finds the principal in the config of a call.
    """

    _stage: str = PrivateAttr(default="disclose")

    def __init__(
        self,
        *,
        policy: PolicySource,
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
        **runnable: Any,
    ) -> None:
        runnable.update(
            policy=Policy.read(policy),
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
        )
        super().__init__(**runnable)
        self._follow(policy)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
    ) -> list[Document]:
        """Redact documents that were retrieved for a query."""
        child = callbacks if isinstance(callbacks, BaseCallbackManager) else None
        force = self._current()
        disclosure, event = force.hook.perform(
            self._steps(documents, self._request(query), force),
            cover(force.policy, child),
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
        force = await self._acurrent()
        disclosure, event = await force.hook.aperform(
            self._steps(documents, self._request(query), force),
            cover(force.policy, child),
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
        self, documents: Sequence[Document], request: Request, force: InForce
    ) -> Steps[Disclosure]:
        """Read the documents as a step, so that an error of it leaves without them."""
        return (yield from disclose(passages_of(documents), request, force.engine))

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
