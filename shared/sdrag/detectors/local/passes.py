"""From one text to its mentions: first pass, second pass, overlaps settled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from sdrag.detectors.local.addresses import find_addresses
from sdrag.detectors.local.fields import find_column_values, find_field_values
from sdrag.detectors.local.identifiers import find_identifiers, find_numbered
from sdrag.detectors.local.internet import find_embedded_names, find_ipv6, find_links
from sdrag.detectors.local.name_forms import (
    find_forms,
    find_partnerships,
    find_role_names,
)
from sdrag.detectors.local.names import find_names
from sdrag.detectors.local.patterns import find_patterns
from sdrag.detectors.local.plain_text import capitalised, plain_text, unwrapped
from sdrag.detectors.local.quantities import find_amounts, find_counts
from sdrag.detectors.local.terms import find_peoples, find_terms
from sdrag.detectors.local.tokens import Candidate, anchors, tokenize
from sdrag.vocabulary import Mention

_SLACK = 0.2
_RECENT = 8
_APART = frozenset(("account", "field", "form", "inside", "magnitude"))
"""Reasons of what is found beside a larger candidate of another type."""
_IDENTIFYING = frozenset(
    ("PERSON", "PHONE_NUMBER", "CODE", "CREDIT_CARD", "IBAN_CODE", "US_SSN", "DATE")
)


def find_mentions(text: str) -> tuple[Mention, ...]:
    """Find what identifies in a text: as it is, and with wrapped lines as one."""
    mentions = set(_read(text))
    whole = unwrapped(text)
    if whole is not None:
        for mention in _read(whole.text):
            span = whole.span(mention.span.start, mention.span.end)
            mentions.add(replace(mention, span=span))
    return tuple(sorted(mentions, key=lambda m: (m.span, m.type, m.reason)))


def _read(text: str) -> list[Mention]:
    plain = plain_text(text)
    shown = capitalised(plain.text)
    tokens = tokenize(shown)
    names = list(find_names(tokens))
    positions = anchors(tokens)
    patterns = list(find_patterns(tokens, positions))
    candidates = chain(
        patterns,
        _join_dates(shown, (c for c in patterns if c.type in {"DATE", "TIME"})),
        find_ipv6(shown, positions),
        find_links(plain.text),
        find_embedded_names(plain.text),
        find_identifiers(tokens),
        find_numbered(tokens),
        find_addresses(tokens),
        find_amounts(tokens),
        names,
        find_partnerships(tokens),
        find_role_names(tokens),
        find_forms(tokens, names),
        find_field_values(tokens),
        find_column_values(plain.text),
        find_peoples(tokens),
        find_terms(tokens),
        find_counts(tokens),
    )
    return [
        Mention(plain.span(c.start, c.end), c.type, c.confidence, c.reason)
        for c in _settle(candidates)
    ]


def _settle(candidates: Iterable[Candidate]) -> list[Candidate]:
    """
    Drop what lies within something at least as sure; sort the rest.

    A form of a name seen elsewhere is dropped for its own type alone. So are a name
    inside an address or a slug, an account's name, what a field's label tells, a large
    sum, and what may identify somebody, for the same stretch: 943 476 5919, by the
    words before it an NHS number, is shaped like a telephone number too.
    """
    kept: list[Candidate] = []
    reached = 0
    for candidate in sorted(
        dict.fromkeys(candidates), key=lambda c: (c.start, -c.end, -c.confidence)
    ):
        if candidate.end > reached or not any(
            _holds(other, candidate) for other in reversed(kept[-_RECENT:])
        ):
            kept.append(candidate)
            reached = max(reached, candidate.end)
    return kept


def _holds(other: Candidate, candidate: Candidate) -> bool:
    """Return True if the other says all of it already."""
    if other.type != candidate.type:
        same = (other.start, other.end) == (candidate.start, candidate.end)
        if candidate.reason in _APART or (same and candidate.type in _IDENTIFYING):
            return False
        if (other.type, candidate.type) == ("ADDRESS", "LOCATION"):
            return False
    return (
        other.end >= candidate.end and other.confidence >= candidate.confidence - _SLACK
    )


_JOINED = re.compile(
    r",? (?:and|to|until|till|or)(?: on| from| of| in)? |, (?:on |in )?|-| - "
)
_BETWEEN = re.compile(r"\b(?:[Bb]etween|[Ff]rom) $")
_YEARED = re.compile(r"\d{4}$")
_JOINABLE = 0.7


def _join_dates(text: str, dates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield neighbours as a whole: 1 March and 31 December 1998."""
    sure = [date for date in dates if date.confidence >= _JOINABLE]
    by_start = {date.start: date for date in sure}
    for date in sure:
        join = _JOINED.match(text, date.end)
        after = by_start.get(join.end()) if join else None
        if join is None or after is None:
            continue
        between = _BETWEEN.search(text, max(0, date.start - 8), date.start)
        two_dates = "and" in join.group() and _YEARED.search(text[: date.end][-4:])
        if between or not two_dates:
            whole = between and between.group()[1] == "e"
            start = between.start() if between and whole else date.start
            yield Candidate(start, after.end, "DATE", 0.9, "stretch")
