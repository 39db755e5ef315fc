"""
The query clock: the rooms in order, by `yield from`.

Question and principal, access filter, the host's retriever, access check, staleness,
relevance, injection scan, constraints, redaction. Each room decides on its own; here
stands only what comes after what. An `Engine` is what a wrapper was set up with and
never changes; whatever belongs to one question is a `Request`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sdrag.disclosure.binding import bind as attach
from sdrag.disclosure.bindings import BindingStore, open_bindings
from sdrag.disclosure.disclose import DisclosureSetup, Locator
from sdrag.disclosure.disclose import disclose as enforce
from sdrag.disclosure.local import LocalLocator
from sdrag.policy import Policy
from sdrag.steps import Steps, search
from sdrag.vocabulary import Confidential, Decision, Passage, Principal

__all__ = ["Disclosure", "Engine", "Request", "bind", "disclose", "retrieve"]


@dataclass(frozen=True, slots=True, repr=False)
class Request(Confidential):
    """
    One question.

    Args:
        query: The asker's words.
        principal: On whose behalf; `None` when nobody said.
        limit: How many passages are wanted, where the host was told.
    """

    query: str
    principal: Principal | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """
    What a wrapper is set up with; build one with `Engine.build`.

    Args:
        disclosure: Constraints, their bindings and how they are enforced.
        authorize: Whether the performer can ask the host's authorizer.
    """

    disclosure: DisclosureSetup
    authorize: bool = False

    @classmethod
    def build(
        cls,
        policy: Policy | Mapping[str, Any] | str | Path,
        *,
        has_model: bool = False,
        model_id: str = "",
        bindings: BindingStore | str | Path | None = None,
        locator: Locator | None = None,
        authorize: bool = False,
    ) -> Self:
        """
        Put an engine together.

        Args:
            policy: A path, a mapping or a `Policy`.
            has_model: Whether the performer can complete prompts.
            model_id: Names the model in cache keys.
            bindings: The sidecar or its path; in memory when missing.
            locator: In place of the local engine.
            authorize: Whether the performer can ask the host's authorizer.

        Raises:
            PolicyError: The policy cannot be read.
        """
        setup = DisclosureSetup(
            policy=Policy.read(policy),
            bindings=open_bindings(bindings),
            locator=locator or LocalLocator(),
            has_model=has_model,
            model_id=model_id,
        )
        return cls(setup, authorize)

    @property
    def policy(self) -> Policy:
        """What must not be disclosed."""
        return self.disclosure.policy


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What may leave, in the order and under the ids it came in, and why."""

    passages: tuple[Passage, ...]
    decisions: tuple[Decision, ...]


def retrieve(request: Request, engine: Engine) -> Steps[Disclosure]:
    """
    Run the whole query clock around the host's retriever.

    Raises:
        HostError: The host's retriever failed.
    """
    passages = yield from search(request.query, limit=request.limit)
    return (yield from disclose(passages, request, engine))


def disclose(
    passages: Sequence[Passage], request: Request, engine: Engine
) -> Steps[Disclosure]:
    """Run what comes after retrieval, on passages that the host has retrieved."""
    disclosed = yield from enforce(
        passages, request.query, request.principal, engine.disclosure
    )
    released = tuple(
        redaction.passage
        for redaction in disclosed.redactions
        if redaction.passage is not None
    )
    return Disclosure(released, disclosed.decisions)


def bind(passages: Sequence[Passage], engine: Engine) -> Steps[None]:
    """
    Bind the policy's constraints to passages at ingest.

    Raises:
        SdragError: The embeddings or the sidecar failed.
    """
    setup = engine.disclosure
    yield from attach(
        passages, setup.policy.rules, setup.bindings, setup.policy.disclosure
    )
