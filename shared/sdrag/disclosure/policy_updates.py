"""
Living policies: constraints come, change and go while the index stands.

A new constraint is bound by asking the host's vector store for the chunks nearest to
its words: one query, and no chunk is embedded again. What it withholds in them is
located at once; in any other chunk when the chunk is retrieved, or when the corpus is
bound again. A reworded one is a new one, since the state knows constraints by a
fingerprint of their words. A removed one stops applying with the next question, because
only the policy's own constraints are looked up; forgetting it merely frees room.

The store's scores are on a scale of its own, so they are not kept beside cosines: what
it found near stays bound, whatever is bound later.
"""

from __future__ import annotations

from sdrag.disclosure.locating import located
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts
from sdrag.engine.steps import Steps, compute, replied, search
from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.state import State
from sdrag.vocabulary import Binding, Constraint

__all__ = ["bind_constraint", "forget_constraint", "named"]

_SURE = 1.0


def bind_constraint(constraint: Constraint, setup: DisclosureSetup) -> Steps[int]:
    """
    Bind one new or reworded constraint to an index that stands.

    Args:
        constraint: As it stands in the policy.
        setup: The engine; its state knows the index's chunks.

    Returns:
        To how many chunks it was bound.

    Raises:
        HostError: The host's store or the state failed.
    """
    section = setup.policy.disclosure
    nearest = yield from search(constraint.text, limit=section.bind_top_n)
    if not constraint.always:
        bindings = [Binding(constraint.id, passage.id, _SURE) for passage in nearest]
        (written,) = yield from compute(
            lambda found: setup.state.bindings.add(constraint, nearest, found),
            [bindings],
        )
        replied(written)
    texts = Texts(tuple(nearest), (constraint,), setup.policy.metadata)
    yield from located(texts, setup, lambda: _only(constraint))
    return len(nearest)


def _only(constraint: Constraint) -> Steps[list[str]]:
    yield from ()
    return [constraint.id]


def forget_constraint(constraint: Constraint, state: State) -> Steps[None]:
    """
    Free the room of a constraint that left the policy.

    Raises:
        HostError: The state failed.
    """
    (removed,) = yield from compute(state.bindings.remove, [constraint])
    replied(removed)


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
