"""
Marks that say to whom a message was released.

A thread or a memory can be shared. A message that was released to one principal carries
a mark, and is read again under the policy before another principal's model sees it. The
mark is a keyed hash of the policy, the principal and the text. Its key is the secret of
the state, so nobody without the state can make a mark, or test a guess of a principal
against one. Marks outlive a process where the state is a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sdrag.policy import Policy
from sdrag.state import State
from sdrag.vocabulary import Principal

__all__ = ["release_mark"]


def release_mark(
    state: State, policy: Policy, principal: Principal | None, texts: Iterable[str]
) -> str:
    """
    Return the mark of texts that were released.

    Args:
        state: Holds the secret.
        policy: The policy in force.
        principal: To whom they were released; `None` is nobody in particular.
        texts: What was released; a mark holds on no other text.
    """
    parts = ("released to", policy.hash, *_identity(principal), *texts)
    return state.keys.of(*parts).hex()


def _identity(principal: Principal | None) -> tuple[str, ...]:
    """Spell out what tells a principal from any other."""
    if principal is None:
        return ("nobody",)
    return (
        "principal",
        repr(principal.id),
        repr(principal.tenant),
        repr(sorted(principal.roles)),
        repr(principal.level),
        repr(_sorted(principal.attributes)),
    )


def _sorted(attributes: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted(attributes.items(), key=repr)
