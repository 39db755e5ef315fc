"""
Reading texts that nobody has looked at: by the local engine and a model.

Where there is a model it is asked for what has to go while the local engine reads, then
about what the local engine found alone. What its first replies left in doubt is asked
again at the same time. So there are two round trips, and one more where the second has
to be asked again.

A binder has whole documents read. A text that is met first at a question is read by
itself by the local engine, so what was retrieved with it decides nothing. The shortest
texts are read first, some together, as far as the limits of local work allow. So a long
text, or one on which a detector does not end, costs as few others as possible.

A text in which something is encoded is read a second time by the local engine, decoded.
What it finds there goes where it is encoded, unasked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sdrag.disclosure.decoded import Decoded, as_encoded, decoded
from sdrag.disclosure.model.confirm import confirm
from sdrag.disclosure.model.extract import Extraction, extract, extract_again
from sdrag.disclosure.setup import Locator
from sdrag.disclosure.stored_findings import Doubts, Found, Lookup
from sdrag.disclosure.texts import Group
from sdrag.effects.steps import (
    Failure,
    Outcome,
    Steps,
    gather,
    replied,
    reserve,
    within_limits,
)
from sdrag.errors import InternalError, LocalLimitError, SdragError
from sdrag.vocabulary import Confidential, Finding

__all__ = ["EngineFindings", "code_of", "part", "read", "readable"]


_BY_SCORER = frozenset({"scored", "again"})
"""The scorer knows no identifiers, and would mark digits of a UUID by chance."""


@dataclass(frozen=True, slots=True, repr=False)
class EngineFindings(Confidential):
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
) -> Steps[EngineFindings]:
    """
    Have the engines read what they have not looked at, side by side.

    Args:
        lookup: The texts.
        local: The ids of the constraints that the local engine has to look for, by the
            text's index.
        model: The same of the model.
        whole: The texts are whole documents: no limit of local work holds.
    """
    if not local and not model:
        return EngineFindings()
    texts, setup = lookup.texts, lookup.setup
    locating = _by_locator(lookup, texts.groups(local), whole=whole)
    if not setup.has_model:
        found, decodings, doubts = yield from locating
        return EngineFindings(found, decoded=decodings, doubts=doubts)
    extracted, located = yield from gather(
        extract(texts.groups(model), setup.policy.disclosure, setup.key), locating
    )
    first, (found, decodings, doubts) = replied(extracted), replied(located)
    again, confirming = yield from gather(
        extract_again(first, setup.key),
        confirm(lookup, found, _filed(lookup, _sure(first))),
    )
    extraction, kept = replied(again), replied(confirming)
    for text_index, name in extraction.doubts:  # the local engine's own verdict counts
        rule = lookup.rules[name]
        if findings := found.get(text_index, {}).get(rule):
            kept.setdefault(text_index, {})[rule] = findings
    quoted, unsure = _filed(lookup, extraction), dict(extraction.doubts)
    return EngineFindings(kept, quoted, decodings, doubts, unsure)


def _sure(extraction: Extraction) -> Extraction:
    """Leave out what was quoted where the verdict is in doubt: it may not be all."""
    kept = {
        text_index: [
            f for f in own if (text_index, f.constraint_id) not in extraction.doubts
        ]
        for text_index, own in extraction.findings.items()
    }
    return replace(extraction, findings=kept)


def _filed(lookup: Lookup, extraction: Extraction) -> Found:
    filed: Found = {}
    for text_index, findings in extraction.findings.items():
        _file(filed, lookup, text_index, findings)
    return filed


@dataclass(slots=True, repr=False)
class _LocalFindings(Confidential):
    """What the local engine made of texts, group by group; as in `EngineFindings`."""

    found: Found = field(default_factory=dict)
    decoded: list[Decoded] = field(default_factory=list)
    doubts: Doubts = field(default_factory=dict)


def _by_locator(
    lookup: Lookup, groups: Sequence[Group], *, whole: bool
) -> Steps[tuple[Found, tuple[Decoded, ...], Doubts]]:
    """Ask the local engine; nothing limits what a binder asks."""
    located = _LocalFindings()
    for group in groups:
        if whole:
            yield from _read_group(lookup, group, located)
            continue
        parts, refused = yield from readable(_apart(group))
        for text_index, failure in refused.items():
            located.doubts |= _in_doubt(text_index, group, failure)
        for some in parts:
            yield from within_limits(_read_group(lookup, some, located))
    return located.found, tuple(located.decoded), located.doubts


def _read_group(lookup: Lookup, group: Group, located: _LocalFindings) -> Steps[None]:
    """Have texts read as they are and decoded; what could not be is in doubt."""
    outcomes = yield from _asked(lookup.setup.locator, group)
    read_now: list[int] = []
    for index, outcome in enumerate(outcomes):
        if isinstance(outcome, Failure):
            located.doubts |= _in_doubt(group.text_indices[index], group, outcome)
        else:
            _file(located.found, lookup, group.text_indices[index], outcome.value)
            read_now.append(index)
    plain = yield from decoded(part(group, read_now))
    for text_index, failure in plain.failed.items():
        located.doubts |= _in_doubt(text_index, group, failure)
    outcomes = yield from _asked(lookup.setup.locator, plain.group)
    for text_index, outcome in zip(plain.group.text_indices, outcomes, strict=True):
        if isinstance(outcome, Failure):
            located.doubts |= _in_doubt(text_index, group, outcome)
            continue
        back = plain.ways_back[text_index]
        own: Found = {}
        _file(own, lookup, text_index, outcome.value)
        located.decoded.append(Decoded(text_index, back.text, own.get(text_index, {})))
        _file(located.found, lookup, text_index, as_encoded(outcome.value, back))


def _in_doubt(text_index: int, group: Group, failure: Failure) -> Doubts:
    """Say that no constraint of a group could be decided on a text."""
    code = code_of(failure)
    return {(text_index, rule.id): code for rule in group.constraints}


def _apart(group: Group) -> Group:
    """Make each text a document of its own: its neighbours decide nothing."""
    texts = tuple(
        replace(text, document_id=f"text {text_index}")
        for text_index, text in zip(group.text_indices, group.texts, strict=True)
    )
    return replace(group, texts=texts)


def _file(
    found: Found, lookup: Lookup, text_index: int, findings: Iterable[Finding]
) -> None:
    chance = _BY_SCORER if lookup.texts.is_technical(text_index) else ()
    for finding in findings:
        rule = lookup.rules.get(finding.constraint_id)
        if rule and finding.reason not in chance:
            found.setdefault(text_index, {}).setdefault(rule, []).append(finding)


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


_AT_ONCE = 20_000
"""So many characters are read together: ten chunks of an index."""


def readable(group: Group) -> Steps[tuple[Sequence[Group], Mapping[int, Failure]]]:
    """
    Say what of a group may be read at this request.

    Args:
        group: Each text of it is a document of its own.

    Returns:
        Groups to be read one after the other, and why others may not be, by index.
    """
    lengths = [len(text.text) for text in group.texts]
    indexes = sorted(range(len(lengths)), key=lengths.__getitem__)
    outcomes = yield from reserve(group.texts[index].text for index in indexes)
    refused: dict[int, Failure] = {}
    fitting: list[int] = []
    for index, outcome in zip(indexes, outcomes, strict=True):
        if isinstance(outcome, Failure):
            refused[group.text_indices[index]] = outcome
        else:
            fitting.append(index)
    return [part(group, some) for some in _together(group, fitting)], refused


def part(group: Group, indexes: Sequence[int]) -> Group:
    """Return some texts of a group."""
    return Group(
        tuple(group.text_indices[index] for index in indexes),
        tuple(group.texts[index] for index in indexes),
        group.constraints,
    )


def code_of(failure: Failure) -> str:
    """Return the reason's code for a text that was not read to its end."""
    over = isinstance(failure.error, LocalLimitError)
    return "over-local-limit" if over else "detector-failed"


def _together(group: Group, indexes: Sequence[int]) -> Iterator[list[int]]:
    """Yield texts that are read together."""
    some: list[int] = []
    size = 0
    for index in indexes:
        length = len(group.texts[index].text)
        if some and size + length > _AT_ONCE:
            yield some
            some, size = [], 0
        some.append(index)
        size += length
    if some:
        yield some
