"""
What touches a technical value of the metadata: what a constraint asks for.

The scorer marks digits of a UUID under nearly every constraint, for it knows texts and
no identifiers. So what the local engine finds in a technical value counts only where
the constraint asks for such values, which then go whole, or may mean any value. The
names that the constraint itself gives count always, and so do what a model quotes and
what the register of the document knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.decoded import ENCODED
from sdrag.disclosure.reading_unseen import EngineFindings
from sdrag.disclosure.registering import IN_PLACE
from sdrag.disclosure.stored_findings import Lookup
from sdrag.disclosure.technical import Technical
from sdrag.vocabulary import Finding, Span

__all__ = ["Extent", "asked", "without_chance"]

_CHANCE = IN_PLACE | {"again", "type", "checked", ENCODED}
_AGES = frozenset({"AGE", "YEARS"})
_TYPES = {
    Technical.UUID: frozenset({"CODE", "CREDENTIAL"}),
    Technical.HASH: frozenset({"CODE", "CREDENTIAL"}),
    Technical.TIMESTAMP: frozenset({"DATE", "TIME"}),
}
_CODE_WORDS = re.compile(
    r"\b(?:codes?|identifiers?|ids?|[gu]uids?|uuids?|hash(?:es)?|digests?|checksums?"
    r"|fingerprints?|keys?|tokens?|credentials?|secrets?|passwords?|references?"
    r"|(?:serial|reference) numbers?)\b",
    re.IGNORECASE,
)
_DATE_WORDS = re.compile(
    r"\b(?:dates?|dated|times?|timestamps?|when|days?|months?|years?|birth\w*|born|dobs?"
    r"|deadlines?|annivers\w+|hours?|clock|schedul\w+)\b",
    re.IGNORECASE,
)


class Extent(Enum):
    """How much of a technical value a constraint asks for."""

    WHOLE = "the value itself"
    PARTS = "what the local engine finds in it"
    NOTHING = "only what is sure"


def without_chance(
    lookup: Lookup, reading: EngineFindings, local: Mapping[int, Sequence[str]]
) -> EngineFindings:
    """
    Leave out what was found by chance in technical values, and add what is asked for.

    Args:
        lookup: The texts.
        reading: What was found in them.
        local: The ids of the constraints that the local engine looked for.
    """
    texts = lookup.texts
    kinds = {
        text_index: kind for text_index in local if (kind := texts.kind_of(text_index))
    }
    if not kinds:
        return reading
    parsed = {rule.id: parse(rule) for rule in texts.constraints}
    found = dict(reading.found)
    for text_index, kind in kinds.items():
        whole = Span(0, len(texts.all[text_index].text))
        by_rule = found.get(text_index, {})
        found[text_index] = {
            (rule := lookup.rules[name]): _counting(
                by_rule.get(rule, ()), asked(kind, parsed[name]), name, whole
            )
            for name in local[text_index]
        }
    decoded = tuple(item for item in reading.decoded if item.text_index not in kinds)
    return replace(reading, found=found, decoded=decoded)


def _counting(
    findings: Iterable[Finding], extent: Extent, name: str, whole: Span
) -> list[Finding]:
    if extent is Extent.WHOLE:
        return [Finding(whole, name, "type")]
    if extent is Extent.PARTS:
        return list(findings)
    return [finding for finding in findings if finding.reason not in _CHANCE]


def asked(kind: Technical, parsed: ParsedConstraint) -> Extent:
    """
    Say how much of a technical value a constraint asks for.

    Args:
        kind: Of the value.
        parsed: The constraint.
    """
    every = parsed.kind in {"everything", "only"}
    words = _DATE_WORDS if kind is Technical.TIMESTAMP else _CODE_WORDS
    typed = not parsed.types.isdisjoint(_TYPES[kind])
    if not every and typed and words.search(parsed.constraint.text):
        return Extent.WHOLE
    aged = kind is Technical.TIMESTAMP and not parsed.types.isdisjoint(_AGES)
    return Extent.PARTS if every or parsed.identifying or aged else Extent.NOTHING
