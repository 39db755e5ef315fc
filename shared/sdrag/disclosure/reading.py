"""
Reading texts that nobody has looked at: the local engine, and the model beside it.

A binder has whole documents read. A text that is met first at a question is read by
itself by the local engine, so what was retrieved beside it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sdrag.disclosure.extraction import extract
from sdrag.disclosure.known import Doubts, Lookup
from sdrag.disclosure.setup import Locator
from sdrag.disclosure.texts import Group
from sdrag.errors import InternalError, SdragError
from sdrag.steps import Failure, Outcome, Steps, beside
from sdrag.vocabulary import Finding

__all__ = ["Found", "read"]

Found = dict[int, dict[bytes, list[Finding]]]
"""Findings by the text's place and the rule's key."""


def read(
    lookup: Lookup,
    local: dict[int, list[str]],
    model: dict[int, list[str]],
    *,
    whole: bool,
) -> Steps[tuple[Found, Found, Doubts]]:
    """Have the engines read what they have not looked at, side by side."""
    texts, setup = lookup.texts, lookup.setup
    locating = _by_locator(lookup, texts.groups(local), whole=whole)
    if not model:
        found, doubts = yield from locating
        return found, {}, doubts
    section = setup.policy.disclosure
    extraction, (found, doubts) = yield from beside(
        extract(texts.groups(model), section, setup.key), locating
    )
    extracted: Found = {}
    for place, findings in extraction.findings.items():
        _file(extracted, lookup, place, findings)
    return found, extracted, {**doubts, **extraction.doubts}


def _by_locator(
    lookup: Lookup, groups: Sequence[Group], *, whole: bool
) -> Steps[tuple[Found, Doubts]]:
    """Ask the local engine; what it could not read is in doubt."""
    found: Found = {}
    doubts: Doubts = {}
    for group in groups:
        asked = group if whole else _apart(group)
        outcomes = yield from _asked(lookup.setup.locator, asked)
        for place, outcome in zip(group.places, outcomes, strict=True):
            if isinstance(outcome, Failure):
                doubts |= {
                    (place, rule.id): "detector-failed" for rule in group.constraints
                }
            else:
                _file(found, lookup, place, outcome.value)
    return found, doubts


def _apart(group: Group) -> Group:
    """Make each text a document of its own: what stands beside it decides nothing."""
    texts = tuple(
        replace(text, document_id=f"text {place}")
        for place, text in zip(group.places, group.texts, strict=True)
    )
    return replace(group, texts=texts)


def _file(
    found: Found, lookup: Lookup, place: int, findings: Iterable[Finding]
) -> None:
    for finding in findings:
        if rule := lookup.rules.get(finding.constraint_id):
            found.setdefault(place, {}).setdefault(rule, []).append(finding)


def _asked(locator: Locator, group: Group) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
    """Ask a locator; whatever a plug-in does wrong puts all its texts in doubt."""
    fault: SdragError
    try:
        outcomes = yield from locator.locate(group.texts, group.constraints)
    except SdragError as error:
        fault = error.sealed()
    except Exception as error:  # noqa: BLE001 -- its message may quote the texts
        fault = InternalError(f"A locator failed with {type(error).__name__}.")
    else:
        if len(outcomes) == len(group.texts):
            return list(outcomes)
        fault = InternalError("A locator did not answer for every text.")
    return [Failure(fault)] * len(group.texts)
