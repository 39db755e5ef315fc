"""
What the network of values makes of what the rules found, and what they missed.

A finding in a field whose value has hardly a chance to be of a kind that is asked for
goes; a value that is nearly surely of one is found. What check digits or a label beside
it tell stays, and so does what is asked for and the network knows no kind of. In prose,
where no label tells what a value is, and inside longer fields the rules' word holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sdrag.detectors.local.number_kinds import (
    is_labelled_otherwise,
    is_sure,
    labels_beside,
    number_kinds,
)
from sdrag.detectors.local.tables import listed
from sdrag.detectors.local.values import KINDS, PlacedValues, load_values
from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.text.spans import shift
from sdrag.vocabulary import Finding, Mention, Sensitivity, Span

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]

_RULED_OUT: Mapping[Sensitivity, float] = MappingProxyType(
    {"high": 0.002, "balanced": 0.005, "low": 0.02}
)
"""The least chance with which what a rule found in a field stays."""
_SURE = 0.8
"""What is surely of one other kind has this chance; what is of none clearly stays."""
_FOUND: Mapping[Sensitivity, float] = MappingProxyType(
    {"high": 0.6, "balanced": 0.8, "low": 0.9}
)
"""The least chance with which what no rule found is found."""
_CODES = (
    *("mac", "account", "card", "passport", "licence", "plate", "tax", "insurance"),
    *(
        "patient",
        "employee",
        "customer",
        "student",
        "order",
        "invoice",
        "case",
        "claim",
    ),
    *("policy", "ticket", "tracking", "serial", "reference"),
)
"""Kinds of numbers, found as codes."""
_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "address": ("ADDRESS", "LOCATION"),
        "age": ("AGE",),
        "birth": ("BIRTH_DATE",),
        "birthplace": ("LOCATION",),
        "credential": ("CREDENTIAL",),
        "email": ("EMAIL_ADDRESS",),
        "ip": ("IP_ADDRESS",),
        "money": ("MONEY", "AMOUNT"),
        "nationality": ("NATIONALITY",),
        "phone": ("PHONE_NUMBER",),
        "place": ("LOCATION",),
        "salary": ("MONEY", "AMOUNT"),
        "username": ("USERNAME",),
    }
)
"""The types that ask for each kind."""
_NUMBERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {name: frozenset({name}) for name in _CODES}
    | {"order": frozenset({"order", "tracking"}), "secret": frozenset({"credential"})}
)
"""What kinds of numbers ask for; rooms are told by their labels alone."""
_WORDED = listed(
    "address age birthplace credential email mac money nationality place religion"
    " salary username"
)
"""Kinds of which a value may have no figure."""
_JUDGED = frozenset().union(*_TYPES.values()) - {"MONEY"} | listed(
    "CODE DATE CREDIT_CARD IBAN_CODE NUMBER QUANTITY US_SSN"
)
"""
Types of what may be of another kind: no sum with its currency. Names are weighed
elsewhere.
"""


Found = TypeVar("Found", Finding, Mention)


_SMALL = re.compile(r"\d{1,2}")
"""A number that may be an age, and is nobody's sum or code by itself."""


class _Asked:
    """The kinds of values that a constraint asks for, and how sure one must be."""

    def __init__(self, parsed: ParsedConstraint, default: Sensitivity) -> None:
        known = [
            frozenset(kind for kind, types in _TYPES.items() if type_ in types)
            for type_ in parsed.everywhere - parsed.implied
        ]
        known += [
            _NUMBERS.get(name, frozenset({name}) & {*KINDS}) for name in parsed.kinds
        ]
        kinds = frozenset[str]().union(*([] if parsed.identifying else known))
        self.kinds = sorted(kinds, key=KINDS.index)
        self.columns = [KINDS.index(kind) for kind in self.kinds]
        self.is_judged = all(known)
        """Whether it asks for nothing that the network does not know."""
        self.figures_alone = _WORDED.isdisjoint(kinds)
        self.small = "age" in kinds
        self.numbers = parsed.kinds
        sensitivity = parsed.constraint.sensitivity or default
        self.ruled_out, self.found = _RULED_OUT[sensitivity], _FOUND[sensitivity]

    def is_told(self, text: str, span: Span) -> bool:
        """Say whether check digits or a label tell that a value may be asked for."""
        kinds, labels = number_kinds(), labels_beside(text, span)
        return not labels.isdisjoint({*self.numbers, "reference"}) or any(
            is_sure(kinds[name], span.of(text)) for name in self.numbers
        )


class ValueWeigher:
    """
    Weighs the values of a passage against what constraints ask for.

    Args:
        sensitivity: Of constraints that have none of their own.
        judges: Whether what the rules found can go.
        adds: Whether what no rule found can be found.
    """

    def __init__(
        self,
        parsed_rules: Iterable[ParsedConstraint],
        sensitivity: Sensitivity,
        *,
        judges: bool = True,
        adds: bool = True,
    ) -> None:
        asked = ((p.constraint.id, _Asked(p, sensitivity)) for p in parsed_rules)
        self._asked = {name: each for name, each in asked if each.columns}
        self._judges, self._adds = judges, adds

    def weigh(
        self,
        document: JoinedText,
        mentions: Sequence[Mention],
        findings: Sequence[Finding],
    ) -> Iterator[Finding]:
        """Yield the findings that stay, and what no rule found."""
        if not self._asked:
            yield from findings
            return
        for passage in filter(None, document.passages):
            start = -passage.start
            within = [m for m in mentions if passage.contains(m.span)]
            values = PlacedValues(
                passage.of(document.text),
                [
                    replace(mention, span=shift(mention.span, start))
                    for mention in within
                ],
            )
            found = [
                replace(finding, span=shift(finding.span, start))
                for finding in findings
                if passage.contains(finding.span)
            ]
            for finding in self._weigh(values, found):
                yield replace(finding, span=shift(finding.span, passage.start))

    def _weigh(
        self, values: PlacedValues, findings: Sequence[Finding]
    ) -> Iterator[Finding]:
        missed = {name: [*self._missed(name, values, findings)] for name in self._asked}
        judged = [self._places_of(finding, values) for finding in findings]
        spans = sorted({span for each in (*missed.values(), *judged) for span in each})
        rows = load_values().read([values.describe(span) for span in spans])
        chances = dict(zip(spans, rows, strict=True))
        for finding, places in zip(findings, judged, strict=True):
            if not places or self._stays(finding, [chances[p] for p in places], values):
                yield finding
        for name, places in missed.items():
            each = self._asked[name]
            for span in places:
                row = chances[span][each.columns]
                kind = each.kinds[int(row.argmax())]
                if row.sum() >= each.found:
                    (type_, *_) = _TYPES.get(kind, ("CODE",))
                    found_as = "DATE" if kind == "birth" else type_
                    yield Finding(span, name, "type", type=found_as)

    def _missed(
        self, name: str, values: PlacedValues, findings: Sequence[Finding]
    ) -> Iterator[Span]:
        """Yield where a value may be that a constraint asks for and no rule found."""
        known = [f.span for f in findings if f.constraint_id == name]
        asked, text = self._asked[name], values.text
        for span in values.spans if self._adds else ():
            figured = any(map(str.isdecimal, span.of(text)))
            if (
                values.field_of(span)
                and (figured or not asked.figures_alone)
                and not any(_is_half(other, span) for other in known)
                and (asked.small or not _SMALL.fullmatch(span.of(text)))
                and not is_labelled_otherwise(text, span, asked.numbers)
            ):
                yield span

    def _places_of(self, finding: Finding, values: PlacedValues) -> list[Span]:
        """Return where a finding is judged, the whole of a field; nowhere to stay."""
        each = self._asked.get(finding.constraint_id)
        if not each or not each.is_judged or finding.type not in _JUDGED:
            return []
        is_all = self._judges and values.field_of(finding.span) == finding.span
        return [finding.span] if is_all else []

    def _stays(
        self, finding: Finding, rows: Sequence[Array], values: PlacedValues
    ) -> bool:
        """Say whether a finding may be of a kind that is asked for."""
        each, span = self._asked[finding.constraint_id], finding.span
        if any(row[each.columns].sum() >= each.ruled_out for row in rows):
            return True
        return max(map(np.max, rows)) < _SURE or each.is_told(values.text, span)


def _is_half(found: Span, span: Span) -> bool:
    """Say whether half of a span, or more, is found."""
    shared = min(found.end, span.end) - max(found.start, span.start)
    return 2 * shared >= span.end - span.start


def _shift(found: Iterable[Found], by: int) -> list[Found]:
    return [replace(each, span=shift(each.span, by)) for each in found]
