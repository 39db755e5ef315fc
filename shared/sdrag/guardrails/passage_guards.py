"""
The guards of passages, in their order, and what is stamped on passages that leave.

A guard at retrieval sees what the one before it let through, before anything is cut. A
guard at release sees what is left, and decides by what the application stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sdrag.effects.steps import Steps
from sdrag.guardrails import staleness
from sdrag.guardrails.results import RELEASE_STAMP, Screened, add_evidence
from sdrag.policy import GUARDS, Policy
from sdrag.state.keys import Keys
from sdrag.vocabulary import Decision, Passage, Redaction


def guard_released(
    retrieved: Sequence[Passage],
    redactions: Sequence[Redaction],
    screened: Screened,
    policy: Policy,
    now: datetime,
    audience: str | None,
) -> Steps[Screened]:
    """
    Run the guards on what is released; they decide by what the host stored.

    `screened`: what the guards at retrieval decided. `audience`: the key of the
    audience, where others would not get the same.
    """
    names = find_reported_ids(retrieved, redactions)
    flags = _find_flags(screened.decisions, names)
    released, facts = [], []
    for passage, redaction in zip(retrieved, redactions, strict=True):
        if redaction.passage is not None:
            evidence: dict[str, Any] = {}
            if policy.staleness is not None:
                evidence |= staleness.facts(passage, policy.staleness, now=now)
            if codes := flags.get(redaction.passage_id):
                evidence["flagged"] = list(codes)
            if audience is not None:
                evidence["audience"] = audience
            released.append(add_evidence(redaction.passage, evidence))
            facts.append(passage.metadata)
    return (yield from run_guards("release", released, policy, facts))


def run_guards(
    stage: str, passages: Sequence[Passage], policy: Policy, known: object
) -> Steps[Screened]:
    """
    Run the guards of a stage that are on, each on what the one before it let through.

    `known`: what they know of the passages.
    """
    screened = Screened(tuple(passages))
    for guard in GUARDS:
        section = guard.settings(policy)
        if guard.stage == stage and section is not None:
            result = yield from guard.load()(screened.passages, section, known)
            screened = screened.then(result)
    return screened


def _find_flags(
    decisions: Sequence[Decision], names: Mapping[str, str]
) -> dict[str, dict[str, None]]:
    """Return the codes of what guards flagged and let through, by id and alias."""
    flags: dict[str, dict[str, None]] = {}
    for each in decisions:
        if each.action == "flagged":
            for name in {each.subject, names.get(each.subject, each.subject)}:
                flags.setdefault(name, {})[f"{each.rule}:{each.reason}"] = None
    return flags


def find_reported_ids(
    passages: Sequence[Passage], redactions: Sequence[Redaction]
) -> dict[str, str]:
    """Return what each id is reported as; an alias wins where an id occurs twice."""
    names: dict[str, str] = {}
    for passage, redaction in zip(passages, redactions, strict=True):
        name = redaction.passage_id
        if name != passage.id or passage.id not in names:
            names[passage.id] = name
    return names


def stamp_released(
    passages: Sequence[Passage], policy: Policy, keys: Keys
) -> Sequence[Passage]:
    """Stamp what leaves; Highlight & Summarize reads nothing without the stamp."""
    if not policy.constraints:
        return passages
    return [
        add_evidence(passage, {RELEASE_STAMP: keys.release(policy.hash, passage.text)})
        for passage in passages
    ]
