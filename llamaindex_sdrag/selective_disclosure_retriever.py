"""
The one line a LlamaIndex application changes: its retriever, wrapped.

Everything from the question to the redacted nodes happens inside: access, the host's
own retriever, staleness, relevance, the injection scan, redaction. Events, spans and
callbacks see the question and what is released; of the raw nodes they see nothing,
which no postprocessor can promise.
"""

from __future__ import annotations

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore, QueryBundle

from llamaindex_sdrag.auditing import announce
from llamaindex_sdrag.convert import nodes_of
from llamaindex_sdrag.principals import PrincipalResolver, principal_of
from llamaindex_sdrag.searching import RetrieverFactory, searching
from llamaindex_sdrag.tracing import cover
from llamaindex_sdrag.vector_search import VectorSearch
from llamaindex_sdrag.wrapping import Setup, renewed
from sdrag.engine.calls import Limits
from sdrag.engine.host_search import HostSearch
from sdrag.errors import UsageError
from sdrag.judges import Judge, Scorer
from sdrag.pipeline import Request, retrieve
from sdrag.policy import PolicyFile, PolicySource, ReloadingPolicy
from sdrag.state import StateSource
from sdrag.wrapper_setup import Audit, Authorizer, Escalate, Unpickled, asks_again

__all__ = ["SelectiveDisclosureRetriever"]


class SelectiveDisclosureRetriever(Unpickled, BaseRetriever):
    """
    Retrieve what the policy lets be disclosed.

    Example:
        ```python
        retriever = SelectiveDisclosureRetriever(
            base_retriever=index.as_retriever(), policy="policy.yaml", llm=llm
        )
        ```

    Args:
        base_retriever: The host's own.
        policy: A path, a `PolicyFile`, a mapping or a `Policy`.
        k: How many nodes are wanted; the host's own number by default.
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
        principal_resolver: Finds the principal of a call.
        retriever_factory: Makes a retriever that holds to access filters.
        callback_manager: LlamaIndex's.

    Raises:
        PolicyError: The policy cannot be read.
        HostError: At a call: the wrapped retriever failed.
    """

    def __init__(
        self,
        *,
        base_retriever: BaseRetriever,
        policy: PolicySource,
        k: int | None = None,
        llm: LLM | None = None,
        embeddings: BaseEmbedding | None = None,
        state: StateSource = None,
        authorize: Authorizer | None = None,
        scorer: Scorer = None,
        classifier: Scorer = None,
        contradiction: Scorer = None,
        escalate: Escalate | None = None,
        audit: Audit = None,
        limits: Limits | None = None,
        principal_resolver: PrincipalResolver | None = None,
        retriever_factory: RetrieverFactory | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        if k is not None and k < 1:
            raise UsageError("k is at least 1.")
        if not isinstance(base_retriever, BaseRetriever):
            raise UsageError(
                f"A {type(base_retriever).__name__} is no LlamaIndex retriever.",
                hint="Pass a retriever, such as `index.as_retriever()`.",
            )
        super().__init__(callback_manager=callback_manager)
        self._base_retriever = base_retriever
        self._k = k
        self._principal_resolver = principal_resolver
        self._retriever_factory = retriever_factory
        self._embeddings = embeddings
        judges: dict[Judge, Scorer] = {
            "relevance": scorer,
            "injection": classifier,
            "contradiction": contradiction,
        }
        setup = Setup.build(
            "retrieve",
            policy,
            llm=llm,
            embeddings=embeddings,
            state=state,
            authorize=authorize,
            judges=judges,
            escalate=escalate,
            audit=audit,
            limits=limits,
        )
        setup.check(setup.policy)
        self._living = ReloadingPolicy(setup, PolicyFile.of(policy))

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy in force says."""
        return self._living.made.policy_hash

    def reload(self) -> bool:
        """
        Read the policy's file again; requests that begin from now on are under it.

        A file that cannot be read, or whose policy is refused, changes nothing, and is
        warned of on the logger `sdrag`.

        Returns:
            Whether the file's policy is in force now.

        Raises:
            UsageError: The policy comes from no file.
        """
        return self._living.reload(renewed)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        setup = self._living.current(renewed)
        disclosure, event = setup.hook.perform(
            retrieve(self._request(query_bundle), setup.engine),
            cover(setup.policy),
            self._searching(query_bundle, setup),
        )
        announce(event)
        return nodes_of(disclosure.passages)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        setup = await self._living.acurrent(renewed)
        disclosure, event = await setup.hook.aperform(
            retrieve(self._request(query_bundle), setup.engine),
            cover(setup.policy),
            self._searching(query_bundle, setup),
        )
        announce(event)
        return nodes_of(disclosure.passages)

    def _searching(self, bundle: QueryBundle, setup: Setup) -> HostSearch:
        again = asks_again(setup.policy)
        by_vector = VectorSearch(self._embeddings) if again else None
        return searching(
            self._base_retriever, self._retriever_factory, bundle, by_vector
        )

    def _request(self, bundle: QueryBundle) -> Request:
        principal = principal_of(bundle, self._principal_resolver)
        return Request(bundle.query_str, principal, self._k)

    def __repr__(self) -> str:
        return f"SelectiveDisclosureRetriever(policy_hash={self.policy_hash!r})"
