"""From one text to its mentions: first pass, second pass, overlaps settled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sdrag.detectors.local.account_names import account_names, embedded_names
from sdrag.detectors.local.addresses import addresses
from sdrag.detectors.local.columns import column_labels, column_values
from sdrag.detectors.local.dates import join_dates
from sdrag.detectors.local.fields import GUESSED, field_values, fields, unlabelled
from sdrag.detectors.local.identifiers import find_ipv6, identifiers, numbered
from sdrag.detectors.local.internet import links, secrets
from sdrag.detectors.local.name_forms import (
    find_defined,
    find_everyday_names,
    find_forms,
    find_names_on_lines,
    find_partnerships,
    find_quoted,
)
from sdrag.detectors.local.names import find_names
from sdrag.detectors.local.patterns import find_patterns
from sdrag.detectors.local.plain_text import capitalised, plain_text
from sdrag.detectors.local.quantities import counts, measures
from sdrag.detectors.local.terms import peoples, terms
from sdrag.detectors.local.tokens import Candidate, anchors, tokenize
from sdrag.detectors.local.typeset import mended
from sdrag.vocabulary import Mention

_SLACK = 0.2
_RECENT = 8
_APART = frozenset(("account", "field", "form", "inside", "magnitude"))
_IDENTIFYING = frozenset(
    ("PERSON", "PHONE_NUMBER", "CODE", "CREDIT_CARD", "IBAN_CODE", "US_SSN", "DATE")
)


def all_mentions(text: str) -> tuple[Mention, ...]:
    """Find what identifies in a text: as it is, and as it was before it was typeset."""
    found = _mentions(text)
    typeset = mended(text)
    if typeset is None:
        return found
    before = [
        replace(m, span=typeset.span(m.span.start, m.span.end))
        for m in _mentions(typeset.text)
    ]
    labels = {head.end: head.start for head in column_labels(text)}
    before = [
        m
        for m in before
        if m.reason not in GUESSED or labels.get(m.span.end, m.span.end) > m.span.start
    ]
    return tuple(sorted({*found, *before}, key=lambda m: (m.span, m.type, m.reason)))


def _mentions(text: str) -> tuple[Mention, ...]:
    plain = plain_text(text)
    shown = capitalised(plain.text)
    tokens = tokenize(shown)
    heads = {head.end: head for head in column_labels(plain.text)}
    labels = [field for field in fields(tokens) if field.end not in heads]
    spared = [*labels, *heads.values()]
    named = list(unlabelled(find_names(tokens), spared))
    positions = anchors(tokens)
    patterns = list(find_patterns(tokens, positions))
    dates = [c for c in patterns if c.type in {"DATE", "TIME"}]
    found: list[Candidate] = []
    for candidates in (
        patterns,
        join_dates(tokens.text, dates),
        find_ipv6(tokens.text, positions),
        find_everyday_names(tokens),
        links(plain.text),
        secrets(tokens),
        find_quoted(shown),
        find_defined(shown),
        identifiers(tokens),
        numbered(tokens),
        addresses(tokens),
        measures(tokens),
        named,
        find_partnerships(tokens),
        find_forms(tokens, named),
        embedded_names(plain.text),
        account_names(plain.text, tokens),
        field_values(tokens, labels),
        column_values(plain.text),
        find_names_on_lines(plain.text),
        peoples(tokens),
        terms(tokens),
        counts(tokens),
    ):
        found += unlabelled(candidates, spared)
    return tuple(
        Mention(plain.span(f.start, f.end), f.type, f.confidence, f.reason)
        for f in settled(found)
    )


def settled(found: Iterable[Candidate]) -> list[Candidate]:
    """
    Drop what lies within something at least as sure; sort the rest.

    A form of a name seen elsewhere is dropped for its own type alone. So are a name
    inside an address or a slug, an account's name, what a field's label tells, a large
    sum, and what may identify somebody, for the same stretch: 943 476 5919, by the
    words before it an NHS number, is shaped like a telephone number too.
    """
    kept: list[Candidate] = []
    reached = 0
    for candidate in sorted(dict.fromkeys(found), key=_order):
        if candidate.end > reached or not any(
            _holds(other, candidate) for other in reversed(kept[-_RECENT:])
        ):
            kept.append(candidate)
            reached = max(reached, candidate.end)
    return kept


def _order(found: Candidate) -> tuple[int, int, float]:
    return found.start, -found.end, -found.confidence


def _holds(other: Candidate, candidate: Candidate) -> bool:
    """Return True if the other says all of it already."""
    if other.type != candidate.type:
        same = (other.start, other.end) == (candidate.start, candidate.end)
        if candidate.reason in _APART or (same and candidate.type in _IDENTIFYING):
            return False
    return (
        other.end >= candidate.end and other.confidence >= candidate.confidence - _SLACK
    )
