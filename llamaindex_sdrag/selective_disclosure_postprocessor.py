"""
The hook after retrieval: redact nodes that the host has already retrieved.

The host has emitted its own retrieval events by then, with raw nodes in them: where
tracers must see nothing, wrap the retriever instead. The order among postprocessors
does not matter for safety: what leaves has neither the relationships nor the metadata
by which `PrevNextNodePostprocessor` or `MetadataReplacementPostProcessor` bring raw
text back. For those to be of use they stand before this one.
"""

from __future__ import annotations

from typing import Any, Self

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
from llamaindex_sdrag.wrapping import Setup, renewed
from sdrag.engine.calls import Limits
from sdrag.engine.steps import Steps
from sdrag.errors import UsageError
from sdrag.judges import Judge, Scorer
from sdrag.pipeline import Disclosure, Request, disclose
from sdrag.policy import Policy, PolicyFile, PolicySource, ReloadingPolicy
from sdrag.state import StateSource
from sdrag.wrapper_setup import Audit, Authorizer, Escalate, Unpickled

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
        principal_resolver: Finds the principal of a call.
    """

    policy_hash: str
    engine_id: str

    _living: ReloadingPolicy[Setup] = PrivateAttr()
    _principal_resolver: PrincipalResolver | None = PrivateAttr(default=None)

    def __init__(
        self,
        *,
        policy: PolicySource,
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
            state=state,
            authorize=authorize,
            judges=judges,
            escalate=escalate,
            audit=audit,
            limits=limits,
        )
        setup.check(setup.policy)
        unknown = sorted(component.keys() - type(self).model_fields.keys())
        if unknown:
            raise UsageError(
                f"A {self.class_name()} takes no argument {', '.join(unknown)}.",
                hint="An argument that is misspelt would protect nothing.",
            )
        component.update(policy_hash=setup.policy_hash, engine_id=setup.engine_id)
        super().__init__(**component)
        self._living = ReloadingPolicy(setup, PolicyFile.of(policy))
        self._principal_resolver = principal_resolver

    @property
    def policy(self) -> Policy:
        """What must not be disclosed."""
        return self._living.made.policy

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
        taken = self._living.reload(renewed)
        self._tell()
        return taken

    def fixed(self) -> Self:
        """Return this hook as it is for a request that begins now."""
        return self._fixed_to(self._current())

    async def afixed(self) -> Self:
        """Return it without blocking the event loop."""
        return self._fixed_to(await self._acurrent())

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return "SelectiveDisclosurePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        setup = self._current()
        disclosure, event = setup.hook.perform(
            self._steps(nodes, self._request(query_bundle), setup),
            cover(setup.policy),
        )
        announce(event)
        return nodes_of(disclosure.passages)

    # A span would hold the nodes as they came.
    setattr(_postprocess_nodes, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        setup = await self._acurrent()
        disclosure, event = await setup.hook.aperform(
            self._steps(nodes, self._request(query_bundle), setup),
            cover(setup.policy),
        )
        announce(event)
        return nodes_of(disclosure.passages)

    def _steps(
        self, nodes: list[NodeWithScore], request: Request, setup: Setup
    ) -> Steps[Disclosure]:
        """Read the nodes as a step, so that an error of it leaves without them."""
        return (yield from disclose(passages_of(nodes), request, setup.engine))

    def _request(self, bundle: QueryBundle | None) -> Request:
        principal = principal_of(bundle, self._principal_resolver)
        return Request(bundle.query_str if bundle else "", principal)

    def _current(self) -> Setup:
        """Return what a request that begins now is under, from its start to its end."""
        setup = self._living.current(renewed)
        self._tell()
        return setup

    async def _acurrent(self) -> Setup:
        setup = await self._living.acurrent(renewed)
        self._tell()
        return setup

    def _tell(self) -> None:
        """Have the field tell the policy in force; no request reads it."""
        while self.policy_hash != (told := self._living.made.policy_hash):
            self.policy_hash = told

    def _fixed_to(self, setup: Setup) -> Self:
        copy = self.__copy__()
        copy._living = ReloadingPolicy(setup)  # noqa: SLF001 -- of this very class
        copy._tell()  # noqa: SLF001 -- as above
        return copy

    def __repr__(self) -> str:
        return f"{self.class_name()}(policy_hash={self.policy_hash!r})"

    __str__ = __repr__
