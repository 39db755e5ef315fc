"""From one text to its mentions: first pass, second pass, overlaps settled."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from sdrag.detectors.local.learned import Learned
from sdrag.detectors.local.plain_text import capitalise, plain_text, unwrap
from sdrag.detectors.local.recognisers import Reading, find_candidates
from sdrag.detectors.local.tokens import Candidate, anchors, tokenize
from sdrag.text.cells import Layout, plain_view, read_cells
from sdrag.vocabulary import Mention

_SLACK = 0.2
_RECENT = 8
_APART = frozenset(("account", "field", "form", "inside", "magnitude"))
"""Reasons of what is found beside a larger candidate of another type."""
_CHECKED = frozenset(
    ("CREDENTIAL", "CREDIT_CARD", "EMAIL_ADDRESS", "IBAN_CODE", "PHONE_NUMBER")
)
"""Types whose form tells more than a label does."""
_IDENTIFYING = frozenset(
    ("PERSON", "PHONE_NUMBER", "CODE", "CREDIT_CARD", "IBAN_CODE", "US_SSN", "DATE")
)
_NUMBERS = frozenset(("CREDIT_CARD", "IBAN_CODE", "PHONE_NUMBER", "US_SSN"))
_NAMES = frozenset(("LOCATION", "ORGANIZATION", "PERSON"))


def find_mentions(text: str, off: Collection[str] = ()) -> tuple[Mention, ...]:
    """
    Find what identifies in a text: as it is, and with wrapped lines as one.

    JSON, tables and their like are read as lines of `label: value`. `off`: names of
    recognisers that do not run.
    """
    layout = read_cells(text)
    view = plain_view(layout)
    if view is None:
        return _sort(_find(layout, off))
    mentions = _find(read_cells(view.text), off)
    return _sort(view.trace(mentions, lambda mention: mention.type))


def _sort(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    return tuple(sorted(set(mentions), key=lambda m: (m.span, m.type, m.reason)))


def _find(layout: Layout, off: Collection[str]) -> set[Mention]:
    mentions = set(_read(layout, off))
    whole = unwrap(layout.text)
    if whole is not None:
        for mention in _read(read_cells(whole.text), (*off, "cells")):
            span = whole.span(mention.span.start, mention.span.end)
            mentions.add(replace(mention, span=span))
    return mentions


def _read(layout: Layout, off: Collection[str]) -> list[Mention]:
    plain = plain_text(layout.text)
    if plain.text != layout.text:
        layout = read_cells(plain.text)
    tokens = tokenize(capitalise(plain.text))
    learned = None if "learned-names" in off else Learned(plain.text)
    reading = Reading(plain.text, tokens, anchors(tokens), [], layout, learned)
    return [
        Mention(plain.span(c.start, c.end), c.type, c.confidence, c.reason)
        for c in _settle(find_candidates(reading, off))
    ]


def _settle(candidates: Iterable[Candidate]) -> list[Candidate]:
    """
    Drop what lies within something at least as sure; sort the rest.

    A form of a name seen elsewhere is dropped for its own type alone. So are a number
    that is taken for a part of a name or of an address, a name
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
        in_address = (other.type, candidate.type) == ("ADDRESS", "LOCATION")
        if in_address or other.reason == "learned":  # the head only adds
            return False
        if other.reason == "field" and candidate.type in _CHECKED - {other.type}:
            return False
        if candidate.type == "CODE" and (
            other.type in _NAMES
            or (other.reason == "grown" and candidate.reason != "mixed")
        ):
            return False
        if candidate.type in _NUMBERS and other.type in {"ADDRESS", *_NAMES}:
            return False
    return (
        other.end >= candidate.end and other.confidence >= candidate.confidence - _SLACK
    )
