"""
The query clock: the rooms in order, by `yield from`.

Question and principal, access filter, the host's retriever, access check, staleness,
relevance, injection scan, constraints, redaction. Each room decides on its own; here
stands only what comes after what. An `Engine` is what a wrapper was set up with and
never changes; whatever belongs to one question is a `Request`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdrag.policy import Policy
from sdrag.vocabulary import Confidential, Decision, Passage, Principal

__all__ = ["Disclosure", "Engine", "Request"]


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
    What a wrapper is set up with.

    Args:
        policy: What must not be disclosed.
        has_model: Whether the performer can complete prompts.
    """

    policy: Policy
    has_model: bool = False


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What may leave, in the order and under the ids it came in, and why."""

    passages: tuple[Passage, ...]
    decisions: tuple[Decision, ...]
