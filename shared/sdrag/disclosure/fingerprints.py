"""
What a remembered decision is known by.

What is released of some passages is remembered under a key that names the constraints
that were chosen for them, and a shortcut that does not leads there while the sidecar
stands still. Both depend on the passages, which are therefore hashed once. Every hash
is keyed by the cache's secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sdrag.cache import RedactionCache
from sdrag.disclosure.metadata import allowed
from sdrag.policy import Policy
from sdrag.vocabulary import Passage, Principal

__all__ = ["audience", "fingerprint", "seen_keys"]


def fingerprint(
    passages: Iterable[Passage],
    keys: tuple[str, ...],
    policy: Policy,
    cache: RedactionCache,
) -> str:
    """
    Hash a policy and all of some passages that a decision on them depends on.

    Args:
        passages: As retrieved, in order.
        keys: The keys of their metadata that matter, see `seen_keys`.
        policy: What holds for them.
        cache: Whose secret the hash is keyed by.
    """
    parts = [policy.hash]
    for passage in passages:
        document = passage.document_id
        parts += [
            passage.id,
            "" if document is None else f"of {document}",
            passage.text,
            repr(sorted(allowed(passage.metadata, keys).items())),
        ]
    return cache.key(parts).hex()


def seen_keys(policy: Policy) -> tuple[str, ...]:
    """Return the keys of metadata that may leave, or that a `where` looks at."""
    looked_at = (key for rule in policy.rules for key in rule.where)
    return tuple(dict.fromkeys((*policy.metadata.allow, *looked_at)))


def audience(principal: Principal | None) -> Sequence[str]:
    """Return what a remembered release must not cross."""
    if principal is None:
        return ["nobody"]
    roles = sorted(principal.roles)
    return ["somebody", principal.id, repr(principal.tenant), repr(roles)]
