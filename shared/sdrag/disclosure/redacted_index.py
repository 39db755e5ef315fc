"""
An index of redacted text: how it is made, and how it is asked.

`redact_for_audience` redacts a corpus for an index of its own. Vectors come from text.
Made from unredacted text, they answer a guess: who asks for a name sees by ids and
scores whether the corpus holds it. In an index of the view nothing of what is withheld
has left a trace, at the price that a question which names it finds its passages less
well.

With `influence: none` what a constraint hides decides nothing of what comes back
(non-interference): which passages, in which order and with which scores follows from
what the user may read. It is searched without the types that the constraints hide,
whether or not the corpus knows what it named: "What did John Doe do?" finds what "What
did Jane Roe do?" finds. And only passages leave that bear the stamp of a view under
this policy, as they were stamped; vectors cannot be looked at, so an index that holds
any other passage is refused as a whole. What is hidden by its form has no influence on
what is hidden beside it either: the networks, or a model, read the text after it was
cut out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.cut import cut
from sdrag.disclosure.disclose import Disclosed, disclose, locate
from sdrag.disclosure.keep import apply_keeps
from sdrag.disclosure.local.by_name import find_by_name
from sdrag.disclosure.local.by_type import find_types
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.disclosure.placeholder_style import PlaceholderStyle
from sdrag.disclosure.release import record_decision
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import by_document
from sdrag.effects.steps import Steps, replied
from sdrag.errors import UsageError
from sdrag.policy import Policy, binds
from sdrag.privacy.identities import shown_id
from sdrag.vocabulary import (
    EVIDENCE_KEY,
    Confidential,
    Constraint,
    Decision,
    Passage,
    Principal,
    Redaction,
    Span,
)

DOCUMENT_KEY = "document_id"
"""The metadata key of a document's alias in a redacted view."""
VIEW_KEY = "sdrag_view"
"""The metadata key of a passage's stamp in a redacted index."""

Enforce = Callable[
    [Sequence[Passage], str, Principal | None, DisclosureSetup], Steps[Disclosed]
]
"""What redacts passages, as `disclose` does."""


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
    document. With `influence: none`, every passage is stamped.

    Args:
        passages: Of the corpus; those of one document come together.
        audience: For whom; without one, every constraint holds.
        setup: The engine. Its limits on constraints do not hold here.
    """
    unlimited = replace(setup, policy=setup.policy.without_limits())
    enforce = choose_enforcement(passages, audience, setup, is_view=True)
    stamps = enforce is not disclose
    yield from locate(passages, _limit_to_forms(setup) if stamps else setup)
    keys = control_keys(setup.policy)
    binding = [rule for rule in setup.rules if binds(rule, audience)]
    kept: list[Passage] = []
    decisions: list[Decision] = []
    for indices in by_document(passages):
        document = [passages[index] for index in indices]
        disclosed = yield from enforce(document, "", audience, unlimited)
        decisions += disclosed.decisions
        for passage, redaction in zip(document, disclosed.redactions, strict=True):
            if redaction.passage is not None:
                shown = _view_of(passage, redaction.passage, keys, setup)
                if stamps:
                    stamp = {VIEW_KEY: _view_stamp(shown, binding, setup)}
                    shown = replace(shown, metadata={**shown.metadata, **stamp})
                kept.append(shown)
    return AudienceView(tuple(kept), tuple(decisions))


def choose_enforcement(
    passages: Sequence[Passage],
    principal: Principal | None,
    setup: DisclosureSetup,
    *,
    is_view: bool = False,
) -> Enforce:
    """
    Say what redacts passages; over a redacted index, they are checked and leave.

    Args:
        passages: As they were found, before any of them is left out.
        principal: The end user. An index for nobody is everybody's; one for an audience
            is that of those whom the same constraints bind.
        setup: The engine, with the policy and the state that the index was made with.
        is_view: Whether a view is made, of text that was not redacted.

    Raises:
        UsageError: The index holds a passage that does not bear the stamp of a view.
    """
    if setup.policy.disclosure.influence != "none":
        return disclose
    if is_view:
        return _disclose_by_form_first
    binding = [rule for rule in setup.rules if binds(rule, principal)]
    for passage in passages:
        stamps = (
            _view_stamp(passage, rules, setup) for rules in (setup.rules, binding)
        )
        if passage.metadata.get(VIEW_KEY) not in {*stamps}:
            raise UsageError(
                "`influence: none` releases what a RedactingTransformer marked under"
                " this policy, and the index holds a passage that is not marked so.",
                hint="Split first, then fill a new index through a RedactingTransformer"
                " with the same policy and state, for an audience that the same"
                " constraints bind.",
            )
    with setup.state.database.reading():  # refused if its key was rotated since
        return _release_view


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


def _disclose_by_form_first(
    passages: Sequence[Passage],
    query: str,
    principal: Principal | None,
    setup: DisclosureSetup,
) -> Steps[Disclosed]:
    """Cut out what is hidden by its form before the rest is read."""
    first = _limit_to_forms(setup)
    formed = yield from disclose(passages, query, principal, first)
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
    rest = yield from disclose(read, query, principal, setup)
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


def _limit_to_forms(setup: DisclosureSetup) -> DisclosureSetup:
    """Return a setup that finds what needs no understanding."""
    policy = setup.policy
    kept = [c for c in policy.constraints if c.id not in setup.needing_model]
    return replace(
        setup,
        policy=policy.model_copy(update={"constraints": tuple(kept)}),
        locator=replace(setup.locator, meaning=False),
        has_model=False,
    )


def _release_view(
    passages: Sequence[Passage],
    query: str,  # noqa: ARG001 -- nothing is read again
    principal: Principal | None,  # noqa: ARG001 -- whose stamps were checked
    setup: DisclosureSetup,
) -> Steps[Disclosed]:
    """Release checked passages as they were stamped; nothing is read again."""
    yield from ()
    keys, redactions = setup.policy.metadata.keys, []
    for passage in passages:
        name = shown_id(passage.id, setup.key)
        metadata = {k: v for k, v in passage.metadata.items() if k in keys}
        shown = replace(passage, id=name, metadata=metadata)
        redactions.append(Redaction(shown, name))
    return Disclosed(tuple(redactions), tuple(map(record_decision, redactions)))


def _view_stamp(
    passage: Passage, rules: Sequence[Constraint], setup: DisclosureSetup
) -> str:
    """Return the keyed hash of what leaves of a passage, and of what it was cut by."""
    keys = setup.policy.metadata.keys
    leaving = {key: passage.metadata[key] for key in keys if key in passage.metadata}
    return setup.state.shared_keys.of(
        "view",
        setup.policy.hash,
        " ".join(rule.id for rule in rules),
        passage.text,
        json.dumps(leaving, sort_keys=True, default=str),
    ).hex()


def redact_question(
    question: str, principal: Principal | None, setup: DisclosureSetup
) -> Steps[str]:
    """Return a question without what its asker's constraints hide by form or name."""
    rules = [rule for rule in setup.rules if binds(rule, principal)]
    asked = [parse(rule) for rule in rules]
    (outcome,) = yield from setup.locator.detector_for(asked).detect([question])
    mentions = replied(outcome)
    findings = [*find_types(question, mentions, asked)]
    findings += find_by_name(JoinedText.of([Passage("", question)]), mentions, asked)
    taken: dict[Span, frozenset[str]] = {}
    for rule in rules:
        of_rule = [each for each in findings if each.constraint_id == rule.id]
        for finding in apply_keeps(question, of_rule, rule):
            taken[finding.span] = taken.get(finding.span, frozenset()) | {rule.id}
    names = [rule.id for rule in rules]
    marks = PlaceholderStyle.of(rules, setup.policy.disclosure, setup.placeholders)
    return cut(question, taken, names, marks).apply(question).text or ""
