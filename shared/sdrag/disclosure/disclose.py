"""
Disclosure control of the passages of one question (SD-RAG, section III-C).

What constraints withhold is a fact about a chunk: it is looked up, or located now where
nobody has looked before. Then everything that a constraint withholds is cut out of
text, metadata and ids. Whatever cannot be decided is withheld. Without a top K every
constraint that binds is enforced, so the same chunk always leaves the same. The query
serves ranking alone: no prompt here can hold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.binding import Candidates, choose_for
from sdrag.disclosure.locate import locate_texts
from sdrag.disclosure.lookup import doubt_documents, find_unreadable
from sdrag.disclosure.model.extract import extract
from sdrag.disclosure.model.rephrase import rephrase
from sdrag.disclosure.propagation import Propagation
from sdrag.disclosure.release import Cutter, record_decision
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Group, Texts
from sdrag.effects.steps import Steps, replied, try_each
from sdrag.errors import SdragError
from sdrag.policy import binds
from sdrag.privacy.identities import alias
from sdrag.vocabulary import (
    Decision,
    Passage,
    Principal,
    Redaction,
)

_TRIED = Passage("tried", "The library opens at nine.")


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

    Nothing is raised for a passage that cannot be decided: it is withheld.

    Args:
        passages: As retrieved.
        query: Ranks constraints, and goes nowhere else.
        principal: May lift constraints by `unless`.
        setup: The engine.
    """
    try:
        texts = Texts(tuple(passages), setup.rules, setup.policy.metadata)
        candidates = yield from choose_for(texts.passages, query, principal, setup)
        cutter = yield from enforce(texts, candidates, setup)
        redactions = release_all(replace(cutter, exempt=_find_exempt(principal, setup)))
    except SdragError as error:
        return _withhold_all(passages, error, setup)
    left_out = candidates.decisions
    return Disclosed(redactions, (*map(record_decision, redactions), *left_out))


def _find_exempt(principal: Principal | None, setup: DisclosureSetup) -> frozenset[str]:
    """Return the constraints whose values a principal is given in the answer."""
    if not setup.policy.disclosure.restore:
        return frozenset()
    return frozenset(rule.id for rule in setup.rules if not binds(rule, principal))


def enforce(
    texts: Texts,
    candidates: Candidates,
    setup: DisclosureSetup,
    *,
    from_document: bool = False,
) -> Steps[Cutter]:
    """Locate what constraints withhold in texts, and say what is cut."""
    located = yield from locate_texts(
        texts, setup, candidates.asked, from_document=from_document
    )
    doubts = doubt_documents(located)
    if not setup.has_model and setup.locator.meaning:  # else it is read again
        doubts |= find_unreadable(located.known)
    located = replace(located, doubts=doubts)
    names = {rule.id for rule in candidates.applied}
    many = len(texts.passages)
    applied = [
        tuple(name for name in ids if name in names) for ids in texts.applied[:many]
    ]
    cutter = Cutter(Propagation(located), applied)
    if setup.has_model and any(r.method == "rephrase" for r in candidates.applied):
        cutter = yield from rephrase(cutter, setup)
    return cutter


def release_all(cutter: Cutter) -> tuple[Redaction, ...]:
    """Cut out of each passage what its constraints withhold."""
    outcomes = try_each(cutter.release, range(len(cutter.applied)))
    return tuple(map(replied, outcomes))


def model_fails(setup: DisclosureSetup) -> Steps[bool]:
    """Try the model on a fixed text: whether it fails depends on no document."""
    rules = [rule for rule in setup.rules if rule.id not in setup.blanket_rules]
    if not setup.has_model or not rules:
        return False
    group = Group((0,), (_TRIED,), (rules[0],))
    tried = yield from extract([group], setup.policy.disclosure, setup.key)
    return bool(tried.doubts)


def _withhold_all(
    passages: Sequence[Passage], error: SdragError, setup: DisclosureSetup
) -> Disclosed:
    """Withhold everything; ids are aliased, for nobody has looked at them."""
    code = f"failed-{type(error).__name__.removesuffix('Error').lower()}"
    redactions = tuple(
        Redaction(None, alias(passage.id, setup.key), reason=code)
        for passage in passages
    )
    return Disclosed(redactions, tuple(map(record_decision, redactions)))
