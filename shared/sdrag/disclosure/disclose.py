"""
Disclosure control of the passages of one question (SD-RAG, section III-C).

What constraints withhold is a fact about a chunk: it is looked up, or located now where
nobody has looked before. Then everything that a constraint withholds is cut out of
text, metadata and ids. Whatever cannot be judged is withheld. Without limits every
constraint that binds is enforced, so the same chunk always leaves the same. The query
serves ranking alone: no prompt here can hold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sdrag.disclosure.choosing import Choosing
from sdrag.disclosure.locating import located
from sdrag.disclosure.monotone import taken_before
from sdrag.disclosure.paraphrase import periphrasis
from sdrag.disclosure.placeholders import marks_of, placeholders
from sdrag.disclosure.release import Judged, decision, release, withheld
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts
from sdrag.engine.steps import Steps, compute, replied
from sdrag.errors import SdragError
from sdrag.policy import binds
from sdrag.privacy.identities import alias
from sdrag.vocabulary import Decision, Passage, Principal, Redaction

__all__ = ["Disclosed", "disclose"]


@dataclass(frozen=True, slots=True)
class Disclosed:
    """One redaction per passage, in order, and what was decided."""

    redactions: tuple[Redaction, ...]
    decisions: tuple[Decision, ...]


def disclose(
    passages: Sequence[Passage],
    query: str,
    principal: Principal | None,
    setup: DisclosureSetup,
) -> Steps[Disclosed]:
    """
    Enforce the policy's constraints on passages.

    Nothing is raised for a passage that cannot be judged: it is withheld.

    Args:
        passages: As retrieved.
        query: Ranks constraints, and goes nowhere else.
        principal: May lift constraints by `unless`.
        setup: The engine.
    """
    try:
        texts = Texts(tuple(passages), setup.rules, setup.policy.metadata)
        choosing = Choosing(texts, query, principal, setup)
        redactions = yield from _enforced(texts, choosing, principal, setup)
    except SdragError as error:
        return _nothing(passages, error, setup)
    left_out = choosing.left_out()
    return Disclosed(redactions, (*map(decision, redactions), *left_out))


def _enforced(
    texts: Texts,
    choosing: Choosing,
    principal: Principal | None,
    setup: DisclosureSetup,
) -> Steps[tuple[Redaction, ...]]:
    """Locate what is withheld, and cut it out."""
    section = setup.policy.disclosure
    applied = yield from choosing.applied()
    facts = yield from located(texts, setup, choosing.to_ask)
    names = {rule.id for rule in applied}
    judged = Judged(
        texts,
        facts,
        _those(texts.applied[: len(texts.passages)], names),
        placeholders(texts.constraints, section),
        setup.key,
        setup.closed,
        {rule.id: rule.method for rule in texts.constraints},
        marks_of(texts.constraints, section),
    )
    if section.limited and section.monotone:
        rules = [rule for rule in setup.rules if binds(rule, principal)]
        judged = yield from taken_before(judged, rules, setup.state)
    if setup.has_model and any(rule.method == "rephrase" for rule in applied):
        judged = yield from periphrasis(judged, setup)
    outcomes = yield from compute(
        lambda index: release(judged, index), range(len(texts.passages))
    )
    return tuple(map(replied, outcomes))


def _those(
    applied: Sequence[tuple[str, ...]], names: set[str]
) -> list[tuple[str, ...]]:
    """Keep some of the constraints that hold for texts; most texts have the same."""
    kept = {
        own: tuple(name for name in own if name in names)
        for own in dict.fromkeys(applied)
    }
    return [kept[own] for own in applied]


def _nothing(
    passages: Sequence[Passage], error: SdragError, setup: DisclosureSetup
) -> Disclosed:
    """Withhold everything; ids are aliased, for nobody has looked at them."""
    code = f"failed-{type(error).__name__.removesuffix('Error').lower()}"
    redactions = tuple(
        withheld(alias(passage.id, setup.key), code) for passage in passages
    )
    return Disclosed(redactions, tuple(map(decision, redactions)))
