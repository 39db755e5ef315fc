"""
What LlamaIndex wrappers share: the arguments they take, and how they are built.

LlamaIndex dumps the fields of its components, with the keys of the models in them, to
name what its caches hold. So a wrapper keeps the host's objects in a `Setup`, beside
the fields, and its fields name the policy and the engine: a changed policy never finds
an old result. A wrapper refuses to be pickled, since its policy is confidential.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM

from llamaindex_sdrag.effects import completing, embedding, model_name
from sdrag.cache import Cached
from sdrag.calls import Limits
from sdrag.disclosure.bindings import Bindings
from sdrag.disclosure.history import Kept
from sdrag.guardrails.withheld import WithheldForms
from sdrag.hosting import Audit, Authorizer, Escalate, Hook, authorizing
from sdrag.judges import Judge, Scorer, scoring
from sdrag.performing import Ports
from sdrag.pipeline import Engine
from sdrag.policy import Policy, PolicySource

__all__ = ["Setup"]


@dataclass(frozen=True, slots=True, repr=False)
class Setup:
    """
    What a wrapper was set up with.

    Args:
        policy: What must not be disclosed.
        engine: How it is enforced.
        hook: What drives the steps.
        engine_id: Names the models, without their keys.
    """

    policy: Policy
    engine: Engine
    hook: Hook
    engine_id: str

    def __repr__(self) -> str:
        return f"Setup({self.policy.hash!r})"

    @classmethod
    def build(
        cls,
        stage: str,
        policy: PolicySource,
        *,
        llm: LLM | None = None,
        embeddings: BaseEmbedding | None = None,
        bindings: Bindings = None,
        cache: Cached = None,
        history: Kept = None,
        authorize: Authorizer | None = None,
        judges: Mapping[Judge, Scorer] | None = None,
        withheld: WithheldForms | None = None,
        escalate: Escalate | None = None,
        audit: Audit = None,
        limits: Limits | None = None,
        releasing: bool = True,
    ) -> Setup:
        """
        Read the policy, and make the engine and the hook.

        Raises:
            PolicyError: The policy cannot be read.
        """
        checked, given = Policy.read(policy), judges or {}
        engine = Engine.build(
            checked,
            has_model=llm is not None,
            model_id=model_name(llm),
            bindings=bindings,
            cache=cache,
            history=history,
            authorize=authorize is not None,
            classifier=given.get("injection") is not None,
            withheld=withheld,
            releasing=releasing,
        )
        ports = Ports(
            complete=completing(llm),
            embed=embedding(embeddings),
            score=scoring(given),
            authorize=authorizing(authorize),
        )
        hook = Hook.build(
            stage, checked, ports, audit=audit, escalate=escalate, limits=limits
        )
        names = (model_name(llm) or "local", model_name(embeddings) or "minilm")
        return cls(checked, engine, hook, "/".join(names))
