"""
The hook after retrieval: redact nodes that the host has already retrieved.

The host has emitted its own retrieval events by then, with raw nodes in them: where
tracers must see nothing, wrap the retriever instead. The order among postprocessors
does not matter for safety: what leaves has neither the relationships nor the metadata
by which `PrevNextNodePostprocessor` or `MetadataReplacementPostProcessor` bring raw
text back. For those to be of use they stand before this one.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.auditing import announce
from llamaindex_sdrag.convert import nodes_of, passages_of
from llamaindex_sdrag.principals import PrincipalResolver, principal_of
from llamaindex_sdrag.tracing import cover
from llamaindex_sdrag.wrapping import Setup
from sdrag.cache import Cached
from sdrag.calls import Limits
from sdrag.disclosure.bindings import Bindings
from sdrag.disclosure.history import Kept
from sdrag.errors import UsageError
from sdrag.guardrails.withheld import WithheldForms
from sdrag.hosting import Audit, Authorizer, Escalate, Unpickled
from sdrag.judges import Judge, Scorer, check_retrieving
from sdrag.pipeline import Disclosure, Request, disclose
from sdrag.policy import Policy, PolicySource
from sdrag.steps import Steps

__all__ = ["SelectiveDisclosurePostprocessor"]


class SelectiveDisclosurePostprocessor(Unpickled, BaseNodePostprocessor):
    """
    Keep of retrieved nodes what the policy lets be disclosed.

    Example:
        ```python
        engine = index.as_query_engine(
            node_postprocessors=[SelectiveDisclosurePostprocessor(policy="policy.yaml")]
        )
        ```

    Args:
        policy: A path, a mapping or a `Policy`.
        llm: As for `SelectiveDisclosureRetriever`, like all that follow.
        embeddings: Compares constraints with passages.
        bindings: The sidecar, or its path.
        cache: Remembers redactions, or its path; in memory by default.
        history: Keeps what was withheld, or its path, for a monotone policy; in memory
            by default. Wrappers of one index share one.
        authorize: The host's own answer to who may see what.
        scorer: A cross-encoder, for a policy that reranks.
        classifier: Gives pairs of a text and nothing the probability of an injection.
        contradiction: Gives pairs of premise and hypothesis the probability that they
            contradict each other, where the policy says `method: nli`.
        withheld: Remembers what was cut out, for an `AnswerGuard` that has the same.
        escalate: Told where a contradiction withholds the answer.
        audit: Takes the audit events.
        limits: The bounds of model calls.
        principal_resolver: Finds the principal of a call.
    """

    policy_hash: str
    engine_id: str

    _setup: Setup = PrivateAttr()
    _principal_resolver: PrincipalResolver | None = PrivateAttr(default=None)

    def __init__(
        self,
        *,
        policy: PolicySource,
        llm: LLM | None = None,
        embeddings: BaseEmbedding | None = None,
        bindings: Bindings = None,
        cache: Cached = None,
        history: Kept = None,
        authorize: Authorizer | None = None,
        scorer: Scorer = None,
        classifier: Scorer = None,
        contradiction: Scorer = None,
        withheld: WithheldForms | None = None,
        escalate: Escalate | None = None,
        audit: Audit = None,
        limits: Limits | None = None,
        principal_resolver: PrincipalResolver | None = None,
        **component: Any,
    ) -> None:
        judges: dict[Judge, Scorer] = {
            "relevance": scorer,
            "injection": classifier,
            "contradiction": contradiction,
        }
        setup = Setup.build(
            "disclose",
            policy,
            llm=llm,
            embeddings=embeddings,
            bindings=bindings,
            cache=cache,
            history=history,
            authorize=authorize,
            judges=judges,
            withheld=withheld,
            escalate=escalate,
            audit=audit,
            limits=limits,
        )
        check_retrieving(setup.policy, judges, has_model=llm is not None)
        unknown = sorted(component.keys() - type(self).model_fields.keys())
        if unknown:
            raise UsageError(
                f"A {self.class_name()} takes no argument {', '.join(unknown)}.",
                hint="An argument that is misspelt would protect nothing.",
            )
        component.update(policy_hash=setup.policy.hash, engine_id=setup.engine_id)
        super().__init__(**component)
        self._setup = setup
        self._principal_resolver = principal_resolver

    @property
    def policy(self) -> Policy:
        """What must not be disclosed."""
        return self._setup.policy

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "SelectiveDisclosurePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        disclosure, event = self._setup.hook.perform(
            self._steps(nodes, self._request(query_bundle)), cover(self._setup.policy)
        )
        announce(event)
        return nodes_of(disclosure.passages)

    # A span would hold the nodes as they came.
    setattr(_postprocess_nodes, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        disclosure, event = await self._setup.hook.aperform(
            self._steps(nodes, self._request(query_bundle)), cover(self._setup.policy)
        )
        announce(event)
        return nodes_of(disclosure.passages)

    def _steps(self, nodes: list[NodeWithScore], request: Request) -> Steps[Disclosure]:
        """Read the nodes as a step, so that an error of it leaves without them."""
        return (yield from disclose(passages_of(nodes), request, self._setup.engine))

    def _request(self, bundle: QueryBundle | None) -> Request:
        principal = principal_of(bundle, self._principal_resolver)
        return Request(bundle.query_str if bundle else "", principal)

    def __repr__(self) -> str:
        return f"{self.class_name()}(policy_hash={self.policy_hash!r})"

    __str__ = __repr__
