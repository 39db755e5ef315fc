"""
Reading texts that nobody has looked at: the local engine, and the model beside it.

Where there is a model it is asked for what has to go while the local engine reads, then
about what the local engine found alone. What its first replies left in doubt is asked
again beside that, so there are two round trips, and one more where the second has to be
asked again.

A binder has whole documents read. A text that is met first at a question is read by
itself by the local engine, so what was retrieved beside it decides nothing.

A text in which something is encoded is read a second time by the local engine, decoded;
what it finds there goes where it stands encoded, unasked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sdrag.disclosure.bounds import code_of, part, readable
from sdrag.disclosure.confirming import confirmed
from sdrag.disclosure.decoded import Decoded, as_encoded, decoded
from sdrag.disclosure.extraction import Extraction, extract, extract_again
from sdrag.disclosure.setup import Locator
from sdrag.disclosure.stored_findings import Doubts, Found, Lookup
from sdrag.disclosure.texts import Group
from sdrag.engine.steps import Failure, Outcome, Steps, beside, within_limits
from sdrag.errors import InternalError, SdragError
from sdrag.vocabulary import Confidential, Finding

__all__ = ["Reading", "read"]


@dataclass(frozen=True, slots=True, repr=False)
class Reading(Confidential):
    """
    What the engines found in the texts.

    Args:
        found: By the local engine, as far as it is withheld.
        quoted: By the model.
        decoded: By the local engine in what texts decode to.
        doubts: What the local engine could not judge.
        unsure: What the model could not.
    """

    found: Found = field(default_factory=dict)
    quoted: Found = field(default_factory=dict)
    decoded: tuple[Decoded, ...] = ()
    doubts: Doubts = field(default_factory=dict)
    unsure: Doubts = field(default_factory=dict)


def read(
    lookup: Lookup,
    local: dict[int, list[str]],
    model: dict[int, list[str]],
    *,
    whole: bool,
) -> Steps[Reading]:
    """Have the engines read what they have not looked at, side by side."""
    if not local and not model:
        return Reading()
    texts, setup = lookup.texts, lookup.setup
    locating = _by_locator(lookup, texts.groups(local), whole=whole)
    if not setup.has_model:
        found, decodings, doubts = yield from locating
        return Reading(found, decoded=decodings, doubts=doubts)
    first, (found, decodings, doubts) = yield from beside(
        extract(texts.groups(model), setup.policy.disclosure, setup.key), locating
    )
    extraction, kept = yield from beside(
        extract_again(first, setup.key),
        confirmed(lookup, found, _filed(lookup, _sure(first))),
    )
    quoted, unsure = _filed(lookup, extraction), dict(extraction.doubts)
    return Reading(kept, quoted, decodings, doubts, unsure)


def _sure(extraction: Extraction) -> Extraction:
    """Leave out what was quoted where the verdict is in doubt: it may not be all."""
    kept = {
        place: tuple(
            f for f in own if (place, f.constraint_id) not in extraction.doubts
        )
        for place, own in extraction.findings.items()
    }
    return replace(extraction, findings=kept)


def _filed(lookup: Lookup, extraction: Extraction) -> Found:
    filed: Found = {}
    for place, findings in extraction.findings.items():
        _file(filed, lookup, place, findings)
    return filed


@dataclass(slots=True, repr=False)
class _Located(Confidential):
    """What the local engine made of texts, group by group; as in `Reading`."""

    found: Found = field(default_factory=dict)
    decoded: list[Decoded] = field(default_factory=list)
    doubts: Doubts = field(default_factory=dict)


def _by_locator(
    lookup: Lookup, groups: Sequence[Group], *, whole: bool
) -> Steps[tuple[Found, tuple[Decoded, ...], Doubts]]:
    """Ask the local engine; nothing limits what a binder asks."""
    located = _Located()
    for group in groups:
        if whole:
            yield from _read_group(lookup, group, located)
            continue
        parts, refused = yield from readable(_apart(group))
        for place, failure in refused.items():
            located.doubts |= _in_doubt(place, group, failure)
        for some in parts:
            yield from within_limits(_read_group(lookup, some, located))
    return located.found, tuple(located.decoded), located.doubts


def _read_group(lookup: Lookup, group: Group, located: _Located) -> Steps[None]:
    """Have texts read as they are and decoded; what could not be is in doubt."""
    outcomes = yield from _asked(lookup.setup.locator, group)
    read_now: list[int] = []
    for index, outcome in enumerate(outcomes):
        if isinstance(outcome, Failure):
            located.doubts |= _in_doubt(group.places[index], group, outcome)
        else:
            _file(located.found, lookup, group.places[index], outcome.value)
            read_now.append(index)
    plain = yield from decoded(part(group, read_now))
    for place, failure in plain.failed.items():
        located.doubts |= _in_doubt(place, group, failure)
    outcomes = yield from _asked(lookup.setup.locator, plain.group)
    for place, outcome in zip(plain.group.places, outcomes, strict=True):
        if isinstance(outcome, Failure):
            located.doubts |= _in_doubt(place, group, outcome)
            continue
        back = plain.ways_back[place]
        own: Found = {}
        _file(own, lookup, place, outcome.value)
        located.decoded.append(Decoded(place, back.text, own.get(place, {})))
        _file(located.found, lookup, place, as_encoded(outcome.value, back))


def _in_doubt(place: int, group: Group, failure: Failure) -> Doubts:
    """Say that no constraint of a group could be judged on a text."""
    code = code_of(failure)
    return {(place, rule.id): code for rule in group.constraints}


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
    if not group.texts:
        return []
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
