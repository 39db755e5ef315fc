"""One text to its mentions: first pass, second pass, overlaps settled."""

from __future__ import annotations

from collections.abc import Iterable

from sdrag.detectors.local.addresses import addresses
from sdrag.detectors.local.capitalised_names import names
from sdrag.detectors.local.casing import capitalised
from sdrag.detectors.local.counts import counts
from sdrag.detectors.local.definitions import definitions
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.identifiers import identifiers
from sdrag.detectors.local.links import links, secrets
from sdrag.detectors.local.measures import measures
from sdrag.detectors.local.nationalities import peoples
from sdrag.detectors.local.numbered import numbered
from sdrag.detectors.local.partnerships import partnerships
from sdrag.detectors.local.plain_view import view
from sdrag.detectors.local.quoted import quoted
from sdrag.detectors.local.schemes import schemes
from sdrag.detectors.local.shorter_forms import forms
from sdrag.detectors.local.terms import terms
from sdrag.detectors.local.times import times
from sdrag.detectors.local.words import tokenize
from sdrag.engine.deadlines import check_time
from sdrag.vocabulary import Mention

__all__ = ["mentions"]

_SLACK = 0.2
_RECENT = 8
_IDENTIFYING = frozenset(
    ("PERSON", "PHONE_NUMBER", "CODE", "CREDIT_CARD", "IBAN_CODE", "US_SSN", "DATE")
)


def mentions(text: str) -> tuple[Mention, ...]:
    """Find what identifies in a text."""
    plain = view(text)
    shown = capitalised(plain.text)
    tokens = tokenize(shown)
    named = list(names(tokens))
    found: list[Found] = []
    for own in (
        links(plain.text),
        secrets(tokens),
        quoted(shown),
        definitions(shown),
        identifiers(tokens),
        numbered(tokens),
        addresses(tokens),
        times(tokens),
        measures(tokens),
        named,
        partnerships(tokens),
        forms(tokens, named),
        peoples(tokens),
        terms(tokens),
        counts(tokens),
        schemes(tokens),
    ):
        check_time()
        found += own
    return tuple(
        Mention(plain.span(f.start, f.end), f.type, f.confidence, f.reason)
        for f in settled(found)
    )


def settled(found: Iterable[Found]) -> list[Found]:
    """
    Drop what lies within something at least as sure; sort the rest.

    A form of a name seen elsewhere is dropped for its own type alone. So is what may
    identify somebody, for the same stretch: 943 476 5919, by the words before it an NHS
    number, is shaped like a telephone number too.
    """
    kept: list[Found] = []
    reached = 0
    for one in sorted(dict.fromkeys(found), key=_order):
        if one.end > reached or not any(
            _holds(other, one) for other in reversed(kept[-_RECENT:])
        ):
            kept.append(one)
            reached = max(reached, one.end)
    return kept


def _order(found: Found) -> tuple[int, int, float]:
    return found.start, -found.end, -found.confidence


def _holds(other: Found, one: Found) -> bool:
    """Say whether the other says all of it already."""
    if other.type != one.type:
        same = (other.start, other.end) == (one.start, one.end)
        if one.reason == "form" or (same and one.type in _IDENTIFYING):
            return False
    return other.end >= one.end and other.confidence >= one.confidence - _SLACK
