"""From one text to its mentions: first pass, second pass, overlaps settled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sdrag.detectors.local.account_names import find_account_names, find_embedded_names
from sdrag.detectors.local.addresses import find_addresses
from sdrag.detectors.local.fields import (
    GUESSED,
    find_column_labels,
    find_column_values,
    find_field_values,
    find_fields,
    leave_out_labels,
)
from sdrag.detectors.local.identifiers import find_identifiers, find_ipv6, find_numbered
from sdrag.detectors.local.internet import find_links, find_secrets
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
from sdrag.detectors.local.quantities import find_amounts, find_counts
from sdrag.detectors.local.terms import find_peoples, find_terms
from sdrag.detectors.local.tokens import Candidate, anchors, tokenize
from sdrag.detectors.local.typeset import undo_typesetting
from sdrag.vocabulary import Mention

_SLACK = 0.2
_RECENT = 8
_APART = frozenset(("account", "field", "form", "inside", "magnitude"))
_IDENTIFYING = frozenset(
    ("PERSON", "PHONE_NUMBER", "CODE", "CREDIT_CARD", "IBAN_CODE", "US_SSN", "DATE")
)


def find_mentions(text: str) -> tuple[Mention, ...]:
    """Find what identifies in a text: as it is, and as it was before it was typeset."""
    mentions = set(_read(text))
    typeset = undo_typesetting(text)
    if typeset:
        labels = {head.end: head.start for head in find_column_labels(text)}
        for mention in _read(typeset.text):
            span = typeset.span(mention.span.start, mention.span.end)
            is_label = labels.get(span.end, span.end) <= span.start
            if mention.reason not in GUESSED or not is_label:
                mentions.add(replace(mention, span=span))
    return tuple(sorted(mentions, key=lambda m: (m.span, m.type, m.reason)))


def _read(text: str) -> list[Mention]:
    plain = plain_text(text)
    shown = capitalised(plain.text)
    tokens = tokenize(shown)
    heads = {head.end: head for head in find_column_labels(plain.text)}
    fields = [field for field in find_fields(tokens) if field.end not in heads]
    labels = [*fields, *heads.values()]
    names = list(leave_out_labels(find_names(tokens), labels))
    positions = anchors(tokens)
    patterns = list(find_patterns(tokens, positions))
    candidates: list[Candidate] = []
    for each in (
        patterns,
        _join_dates(shown, (c for c in patterns if c.type in {"DATE", "TIME"})),
        find_ipv6(shown, positions),
        find_everyday_names(tokens),
        find_links(plain.text),
        find_secrets(tokens),
        find_quoted(shown),
        find_defined(shown),
        find_identifiers(tokens),
        find_numbered(tokens),
        find_addresses(tokens),
        find_amounts(tokens),
        names,
        find_partnerships(tokens),
        find_forms(tokens, names),
        find_embedded_names(plain.text),
        find_account_names(plain.text, tokens),
        find_field_values(tokens, fields),
        find_column_values(plain.text),
        find_names_on_lines(plain.text),
        find_peoples(tokens),
        find_terms(tokens),
        find_counts(tokens),
    ):
        candidates += leave_out_labels(each, labels)
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
