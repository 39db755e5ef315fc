"""
What LlamaIndex wrappers share: the arguments they take, and how they are built.

LlamaIndex dumps the fields of its components, with the keys of the models in them, to
name what its caches hold. So a wrapper keeps the host's objects in a `Setup`, beside
the fields, and its fields name the policy and the engine: a changed policy never finds
an old result. A wrapper refuses to be pickled, since its policy is confidential.

A `Setup` never changes. A wrapper whose policy comes from a file makes another one of a
changed file; each request takes one, at its start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM

from llamaindex_sdrag.effects import completing, embedding, model_name
from llamaindex_sdrag.windows import context_window
from sdrag.engine.calls import Limits
from sdrag.engine.effect_runner import Ports
from sdrag.errors import SdragError
from sdrag.judges import Judge, Scorer, check_retrieving, scoring
from sdrag.pipeline import Engine
from sdrag.policy import Policy, PolicySource
from sdrag.state import StateSource
from sdrag.wrapper_setup import Audit, Authorizer, Escalate, GuardRunner, authorizing

__all__ = ["Setup", "renewed"]


@dataclass(frozen=True, slots=True, repr=False)
class Setup:
    """
    What a wrapper was set up with.

    Args:
        policy: What must not be disclosed.
        engine: How it is enforced.
        hook: What drives the steps.
        engine_id: Names the models, without their keys.
        check: Refuses a policy that asks for a judge that the host did not give.
        limits: The bounds of model calls, where the host gave them.
        window: How many tokens the model takes in, where that is known.
    """

    policy: Policy
    engine: Engine
    hook: GuardRunner
    engine_id: str
    check: Callable[[Policy], None]
    limits: Limits | None = None
    window: int | None = None

    def __repr__(self) -> str:
        return f"Setup({self.policy_hash!r})"

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy says, under a key."""
        return self.hook.policy_hash

    @classmethod
    def build(
        cls,
        stage: str,
        policy: PolicySource,
        *,
        llm: LLM | None = None,
        embeddings: BaseEmbedding | None = None,
        state: StateSource = None,
        authorize: Authorizer | None = None,
        judges: Mapping[Judge, Scorer] | None = None,
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
        window = context_window(llm)
        engine = Engine.build(
            checked,
            has_model=llm is not None,
            model_id=model_name(llm),
            state=state,
            authorize=authorize is not None,
            classifier=given.get("injection") is not None,
            releasing=releasing,
            window=window,
        )
        ports = Ports(
            complete=completing(llm),
            embed=embedding(embeddings),
            score=scoring(given),
            authorize=authorizing(authorize),
        )
        hook = GuardRunner.build(
            stage,
            checked,
            ports,
            audit=audit,
            escalate=escalate,
            limits=limits,
            state=engine.disclosure.state,
        )
        names = (model_name(llm) or "local", model_name(embeddings) or "minilm")

        def check(policy: Policy) -> None:
            check_retrieving(policy, given, has_model=llm is not None)

        return cls(checked, engine, hook, "/".join(names), check, limits, window)

    def under(self, policy: Policy) -> Setup:
        """
        Make the same of another policy; what was located stays located.

        Raises:
            PolicyError: A constraint of it is not understood.
            UsageError: It asks for a model that was not handed in.
        """
        self.check(policy)
        disclosure, hook = self.engine.disclosure, self.hook
        engine = Engine.build(
            policy,
            has_model=disclosure.has_model,
            model_id=disclosure.model_id,
            state=disclosure.state,
            authorize=self.engine.authorize,
            classifier=self.engine.classifier,
            window=self.window,
        )
        hook = GuardRunner.build(
            hook.stage,
            policy,
            hook.ports,
            audit=hook.sinks,
            escalate=hook.escalate,
            limits=self.limits,
            state=disclosure.state,
        )
        return replace(self, policy=policy, engine=engine, hook=hook)

    def warn(self, error: SdragError) -> None:
        """Warn that it stays in force, since its changed file is not taken."""
        self.hook.warnings.of_policy(self.hook.stage, self.policy_hash, error)


def renewed(policy: Policy, last: Setup) -> Setup:
    """Make of a changed policy what was made of the last one."""
    return last.under(policy)
