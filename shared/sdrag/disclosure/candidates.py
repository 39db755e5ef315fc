"""
Which constraints are applied to the passages of one question (SD-RAG, III-C1).

The candidates are the union of the constraints bound to the retrieved passages. A
passage that was never bound, or not against the constraints as they read today, makes
every constraint a candidate: doubt applies a rule, it never drops one. Then the policy
decides: all candidates, or the top K by a ranking. A constraint that is not applied is
not enforced, so what was a candidate and not applied is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sdrag.disclosure.binding import stacked
from sdrag.disclosure.bindings import BindingStore
from sdrag.disclosure.ranking import STRATEGIES, Similarities, rank
from sdrag.policy import DisclosureSection, binds
from sdrag.steps import Steps, compute, embed, replied
from sdrag.vocabulary import Constraint, Passage, Principal

__all__ = ["Candidates", "candidates"]


@dataclass(frozen=True, slots=True)
class Candidates:
    """
    The outcome of binding and ranking.

    Args:
        applied: To be enforced, in the order of the policy.
        dropped: Candidates that the policy's top K left out.
    """

    applied: tuple[Constraint, ...]
    dropped: tuple[Constraint, ...] = ()


def candidates(
    passages: Sequence[Passage],
    query: str,
    principal: Principal | None,
    constraints: Sequence[Constraint],
    store: BindingStore,
    section: DisclosureSection,
) -> Steps[Candidates]:
    """
    Choose the constraints for these passages.

    Raises:
        SdragError: The store or the embeddings failed.
    """
    binding = [rule for rule in constraints if binds(rule, principal)]
    bound = [rule for rule in binding if not rule.always]
    if not passages or not bound:
        return Candidates(tuple(binding))
    (answer,) = yield from compute(lambda found: store.read(found, bound), [passages])
    known = replied(answer)
    if all(scores is not None for scores in known):
        names = {name for scores in known for name in scores or ()}
        bound = [rule for rule in bound if rule.id in names]
    kept = {rule.id for rule in bound}
    if section.top_k is not None and len(bound) > section.top_k:
        ranked = yield from _ranked(bound, passages, query, section)
        kept = {name for name, _ in ranked[: section.top_k]}
    return Candidates(
        applied=tuple(rule for rule in binding if rule.always or rule.id in kept),
        dropped=tuple(rule for rule in bound if rule.id not in kept),
    )


def _ranked(
    bound: Sequence[Constraint],
    passages: Sequence[Passage],
    query: str,
    section: DisclosureSection,
) -> Steps[tuple[tuple[str, float], ...]]:
    texts = [passage.text for passage in passages]
    outcomes = yield from embed(
        [*(rule.text for rule in bound), *texts, "\n".join(texts)]
    )
    asked = yield from embed([query], query=True)
    vectors = stacked(outcomes)
    similarities = Similarities.of(
        constraints=vectors[: len(bound)],
        chunks=vectors[len(bound) : -1],
        query=stacked(asked)[0],
        concatenated=vectors[-1],
    )
    scores = STRATEGIES[section.rank_by](similarities)
    return rank(scores, tuple(rule.id for rule in bound))
