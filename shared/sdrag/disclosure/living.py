"""
Living policies: constraints come, change and go while the index stands.

A new constraint is bound by asking the host's vector store for the chunks nearest to
its words: one query, and no chunk is embedded again. A reworded one is a new one, since
the sidecar knows constraints by a fingerprint of their words. A removed one stops
applying with the next question, because only the policy's own constraints are looked
up; forgetting it merely frees room.

What the host's store returns is at most its top N. A chunk beyond them is bound by type
and by document at the question, and every chunk bound before is marked as compared.
The store's scores are on a scale of its own, so they are not kept beside cosines: what
it found near stays bound, whatever is bound later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sdrag.disclosure.binding_store import BindingStore
from sdrag.errors import UsageError
from sdrag.policy import DisclosureSection, Policy
from sdrag.steps import Steps, compute, replied, search
from sdrag.vocabulary import Binding, Constraint, Passage

__all__ = ["LivingStore", "bind_constraint", "forget_constraint", "named"]

_SURE = 1.0


@runtime_checkable
class LivingStore(Protocol):
    """A binding store whose constraints may come and go."""

    def add(
        self,
        constraint: Constraint,
        nearest: Sequence[Passage],
        bindings: Sequence[Binding],
    ) -> None:
        """
        Bind a constraint, and mark every known passage as compared with it.

        Bindings to passages that read differently today are left out.
        """
        ...

    def remove(self, constraint: Constraint) -> None:
        """Forget a constraint's bindings."""
        ...


def bind_constraint(
    constraint: Constraint, store: BindingStore, section: DisclosureSection
) -> Steps[int]:
    """
    Bind one new or reworded constraint to an index that stands.

    Args:
        constraint: As it stands in the policy.
        store: The sidecar that knows the index's chunks.
        section: Gives N.

    Returns:
        To how many chunks it was bound.

    Raises:
        UsageError: The sidecar cannot do it.
        HostError: The host's store failed.
    """
    living = _living(store)
    if constraint.always:
        return 0
    nearest = yield from search(constraint.text, limit=section.bind_top_n)
    bindings = [Binding(constraint.id, passage.id, _SURE) for passage in nearest]
    (written,) = yield from compute(
        lambda found: living.add(constraint, nearest, found), [bindings]
    )
    replied(written)
    return len(bindings)


def forget_constraint(constraint: Constraint, store: BindingStore) -> Steps[None]:
    """
    Free the room of a constraint that left the policy.

    Raises:
        UsageError: The sidecar cannot do it.
    """
    (removed,) = yield from compute(_living(store).remove, [constraint])
    replied(removed)


def _living(store: BindingStore) -> LivingStore:
    if isinstance(store, LivingStore):
        return store
    raise UsageError(
        "This binding store cannot take single constraints.",
        hint="Give it `add` and `remove`, or bind the corpus again.",
    )


def named(policy: Policy, constraint_id: str) -> Constraint:
    """
    Return a constraint of a policy.

    Raises:
        UsageError: The policy has none of that id.
    """
    for rule in policy.rules:
        if rule.id == constraint_id:
            return rule
    raise UsageError(
        "The policy has no constraint of that id.",
        hint="A constraint without an id is known by its place: c1, c2 and so on.",
    )
