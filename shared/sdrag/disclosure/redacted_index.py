"""
Non-interference: what a constraint hides decides nothing of what comes back.

Vectors and ranks come from text. Over redacted text, which passages come back, in which
order and with which scores, follows from what the user may read, and from nothing
else. So with `influence: none` two things hold at a question. It is searched without
the types that the constraints hide, whether or not the corpus knows what it named:
"What did John Doe do?" finds what "What did Jane Roe do?" finds. And only passages
leave that `redact_for_audience` marked under this policy, as they were marked; vectors
cannot be looked at, so an index that holds any other passage is refused as a whole.

What is hidden by its form has no influence on what is hidden beside it either. The
networks, or a model, read the text after it was cut out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.cut import PlaceholderStyle, cut
from sdrag.disclosure.keep import apply_keeps
from sdrag.disclosure.local.by_name import find_by_name
from sdrag.disclosure.local.by_type import is_of
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.effects.steps import Steps, replied
from sdrag.errors import UsageError
from sdrag.policy import binds
from sdrag.privacy.identities import shown_id
from sdrag.vocabulary import (
    Constraint,
    Finding,
    Mention,
    Passage,
    Principal,
    Redaction,
    Span,
)

VIEW_KEY = "sdrag_view"
"""The metadata key of a passage's mark in a redacted index."""

_NAMES = frozenset({"LOCATION", "ORGANIZATION", "PERSON", "USERNAME"})


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


def find_types(
    question: str, mentions: Sequence[Mention], asked: Sequence[ParsedConstraint]
) -> Iterator[Finding]:
    """Yield the mentions of every type a constraint asks for, whatever is near them."""
    for parsed in asked:
        types = parsed.types | (_NAMES if parsed.names else frozenset())
        for mention in mentions:
            if is_of(mention, mention.span.of(question), types):
                yield Finding(
                    mention.span, parsed.constraint.id, "type", type=mention.type
                )


def by_form(setup: DisclosureSetup) -> DisclosureSetup | None:
    """Return a setup that finds what needs no understanding, if that is cut first."""
    policy = setup.policy
    if policy.disclosure.influence != "none":
        return None
    kept = [c for c in policy.constraints if c.id not in setup.needing_model]
    return replace(
        setup,
        policy=policy.model_copy(update={"constraints": tuple(kept)}),
        locator=replace(setup.locator, meaning=False),
        has_model=False,
    )


def stamp_view(
    passage: Passage, audience: Principal | None, setup: DisclosureSetup
) -> Passage:
    """Mark a passage of a redacted index as redacted under a policy for an audience."""
    binding = [rule for rule in setup.rules if binds(rule, audience)]
    metadata = {**passage.metadata, VIEW_KEY: _view_stamp(passage, binding, setup)}
    return replace(passage, metadata=metadata)


def check_view_stamps(
    passages: Sequence[Passage], principal: Principal | None, setup: DisclosureSetup
) -> None:
    """
    See that all of what was found is of an index that was redacted for the user.

    Args:
        passages: As they were found, before any of them is left out.
        principal: The end user. An index for nobody is everybody's; one for an audience
            is that of those whom the same constraints bind.
        setup: The engine, with the policy and the state that the index was made with.
    """
    binding = [rule for rule in setup.rules if binds(rule, principal)]
    for passage in passages:
        given = passage.metadata.get(VIEW_KEY)
        if given not in {
            _view_stamp(passage, rules, setup) for rules in (setup.rules, binding)
        }:
            raise UsageError(
                "`influence: none` releases what a RedactingTransformer marked under"
                " this policy, and the index holds a passage that is not marked so.",
                hint="Split first, then fill a new index through a RedactingTransformer"
                " with the same policy and state, for an audience that the same"
                " constraints bind.",
            )


def release_stamped_view(
    passages: Sequence[Passage], setup: DisclosureSetup
) -> tuple[Redaction, ...]:
    """Release checked passages as they were marked; nothing is read again."""
    keys = setup.policy.metadata.keys
    return tuple(
        Redaction(replace(passage, id=name, metadata=metadata), name)
        for passage in passages
        for name in (shown_id(passage.id, setup.key),)
        for metadata in ({k: v for k, v in passage.metadata.items() if k in keys},)
    )


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
