"""
Disclosure control of the passages of one question (SD-RAG, section III-C).

What constraints withhold is a fact about a chunk: it is looked up, or located now where
nobody has looked before. Then everything that a constraint withholds is cut out of
text, metadata and ids. Whatever cannot be decided is withheld. Without a top K every
constraint that binds is enforced, so the same chunk always leaves the same. The query
serves ranking alone: no prompt here can hold it.

`redact_for_audience` redacts a corpus for an index of its own. Vectors come from text.
Made from unredacted text, they answer a guess: who asks for a name sees by ids and
scores whether the corpus holds it. In an index of the view nothing of what is withheld
has left a trace, at the price that a question which names it finds its passages less
well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.binding import Candidates, choose_for
from sdrag.disclosure.ingest import locate
from sdrag.disclosure.locate import locate_texts
from sdrag.disclosure.lookup import find_unreadable
from sdrag.disclosure.model.extract import extract
from sdrag.disclosure.model.rephrase import rephrase
from sdrag.disclosure.propagation import Propagation
from sdrag.disclosure.redacted_index import by_form, stamp_view
from sdrag.disclosure.release import Cutter, record_decision, withhold
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Group, Texts, by_document
from sdrag.effects.steps import Steps, replied, try_each
from sdrag.errors import SdragError
from sdrag.policy import Policy
from sdrag.privacy.identities import alias
from sdrag.vocabulary import (
    EVIDENCE_KEY,
    Confidential,
    Decision,
    Passage,
    Principal,
    Redaction,
)

DOCUMENT_KEY = "document_id"
"""The metadata key of a document's alias in a redacted view."""

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

    Nothing is raised for a passage that cannot be decided: it is withheld. With
    `influence: none`, what is hidden by its form is cut out before the rest is read.

    Args:
        passages: As retrieved.
        query: Ranks constraints, and goes nowhere else.
        principal: May lift constraints by `unless`.
        setup: The engine.
    """
    first = by_form(setup)
    if first is None:
        return (yield from _disclose(passages, query, principal, setup))
    formed = yield from _disclose(passages, query, principal, first)
    read = [
        replace(
            passage,
            id=redaction.passage.id,
            text=redaction.passage.text,
            metadata={**passage.metadata, **redaction.passage.metadata},
        )
        for passage, redaction in zip(passages, formed.redactions, strict=True)
        if redaction.passage is not None
    ]
    rest = yield from _disclose(read, query, principal, setup)
    later = iter(rest.redactions)
    redactions = tuple(
        redaction if redaction.passage is None else _unite(redaction, next(later))
        for redaction in formed.redactions
    )
    left_out = rest.decisions[len(read) :]
    return Disclosed(redactions, (*map(record_decision, redactions), *left_out))


def _unite(first: Redaction, second: Redaction) -> Redaction:
    """Return what two readings, one after the other, made of a passage."""
    ids = dict.fromkeys((*first.constraint_ids, *second.constraint_ids))
    spans = first.spans + second.spans
    passage = second.passage
    if passage is not None and ids:
        earlier = first.passage.metadata.get(EVIDENCE_KEY, {}) if first.passage else {}
        facts = {**earlier, **passage.metadata.get(EVIDENCE_KEY, {})}
        facts |= {"constraints": list(ids), "spans": spans}
        passage = replace(passage, metadata={**passage.metadata, EVIDENCE_KEY: facts})
    return replace(second, passage=passage, constraint_ids=tuple(ids), spans=spans)


def _disclose(
    passages: Sequence[Passage],
    query: str,
    principal: Principal | None,
    setup: DisclosureSetup,
) -> Steps[Disclosed]:
    try:
        texts = Texts(tuple(passages), setup.rules, setup.policy.metadata)
        candidates = yield from choose_for(texts.passages, query, principal, setup)
        cutter = yield from enforce(texts, candidates, setup)
        redactions = release_all(cutter)
    except SdragError as error:
        return _withhold_all(passages, error, setup)
    left_out = candidates.decisions
    return Disclosed(redactions, (*map(record_decision, redactions), *left_out))


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
    if not setup.has_model and setup.locator.meaning:  # else it is read again
        doubts = located.doubts | find_unreadable(located.known)
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
        withhold(alias(passage.id, setup.key), code) for passage in passages
    )
    return Disclosed(redactions, tuple(map(record_decision, redactions)))


@dataclass(frozen=True, slots=True, repr=False)
class AudienceView(Confidential):
    """
    What an audience may read.

    Args:
        passages: Redacted, with the metadata that may leave and that guards look at;
            each document under an alias. What is withheld whole is left out.
        decisions: What was decided on each passage that came in.
    """

    passages: tuple[Passage, ...]
    decisions: tuple[Decision, ...]


def redact_for_audience(
    passages: Sequence[Passage], audience: Principal | None, setup: DisclosureSetup
) -> Steps[AudienceView]:
    """
    Redact passages for an index of their own.

    Each document is located as a whole and redacted under every constraint that binds
    the audience: no question is there to rank them, and no neighbour of another
    document. With `influence: none`, every passage is marked.

    Args:
        passages: Of the corpus; those of one document come together.
        audience: For whom; without one, every constraint holds.
        setup: The engine. Its limits on constraints do not hold here.
    """
    unlimited = replace(setup, policy=setup.policy.without_limits())
    yield from locate(passages, by_form(setup) or setup)
    keys = control_keys(setup.policy)
    marks = setup.policy.disclosure.influence == "none"
    kept: list[Passage] = []
    decisions: list[Decision] = []
    for indices in by_document(passages):
        document = [passages[index] for index in indices]
        disclosed = yield from disclose(document, "", audience, unlimited)
        decisions += disclosed.decisions
        for passage, redaction in zip(document, disclosed.redactions, strict=True):
            if redaction.passage is not None:
                shown = _view_of(passage, redaction.passage, keys, setup)
                kept.append(stamp_view(shown, audience, setup) if marks else shown)
    return AudienceView(tuple(kept), tuple(decisions))


def control_keys(policy: Policy) -> tuple[str, ...]:
    """Return the metadata keys that guards and constraints look at."""
    sections = (policy.access, policy.staleness)
    named = [
        getattr(section, field)
        for section in sections
        if section is not None
        for field in type(section).model_fields
        if field.endswith("_key") and field != "document_key"
    ]
    named += [key for rule in policy.rules for key in rule.where]
    return tuple(dict.fromkeys(key for key in named if key is not None))


def _view_of(
    passage: Passage, released: Passage, keys: Sequence[str], setup: DisclosureSetup
) -> Passage:
    metadata = {k: v for k, v in released.metadata.items() if k != EVIDENCE_KEY}
    metadata |= {key: passage.metadata[key] for key in keys if key in passage.metadata}
    document = passage.document_id
    if document is not None:
        document = setup.state.keys.of("view", document).hex()
        metadata[DOCUMENT_KEY] = document
    return replace(released, metadata=metadata, document_id=document)
