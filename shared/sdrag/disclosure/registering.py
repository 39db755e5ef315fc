"""
What is to be known again, made of what was located.

Names, codes and whatever else was found by its form or by a model go wherever they
are in their document, with the other forms of names, and so is a rare word that surely
tells a secret. Any other word that was hidden for what it means there goes wherever the
same words are next to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.surface_forms import (
    lasts,
    name_forms,
    plurals,
    speaks_of_people,
    value_forms,
)
from sdrag.state.entries import Entries, Hashes, context_words
from sdrag.text.folding import Folded
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Constraint, Finding, Span

__all__ = ["IN_PLACE", "add_entries", "surfaces"]

IN_PLACE = frozenset({"scored", "cue"})
"""Who finds words for what they mean where they are."""
_OF_PEOPLE = frozenset({"", "PERSON"})
"""Types whose parts are names too; an organisation's may be everyday words."""


def surfaces(
    text: str,
    findings: Iterable[Finding],
    constraint: Constraint,
    marks: re.Pattern[str],
) -> Iterator[str]:
    """
    Yield the forms that a constraint withholds throughout the document.

    Args:
        text: What the findings point into.
        findings: Of that constraint.
        constraint: On people, it withholds the other forms of their names too.
        marks: Finds placeholders; what is within one is no form.
    """
    standing = SpanUnion(Span(*match.span()) for match in marks.finditer(text))
    lasting = [
        finding
        for finding in findings
        if finding.reason not in IN_PLACE and not standing.contains(finding.span)
    ]
    known = {finding.span.of(text) for finding in lasting}
    known |= {form for surface in known for form in value_forms(surface)}
    if known and _names_people(constraint):
        ranks = common_words()
        known |= {
            form
            for finding in lasting
            for form in name_forms(finding.span.of(text))
            if finding.type in _OF_PEOPLE or form.lower() not in ranks
        }
    for surface in known:
        if lasts(surface):
            yield surface


def add_entries(
    entries: Entries,
    rule: bytes,
    folded: Folded,
    findings: Sequence[Finding],
    forms: Iterable[str],
    hashes: Hashes,
) -> None:
    """
    Add what was located in one text for one rule to what is to be known again.

    Args:
        entries: Grow.
        rule: The key of the rule.
        folded: The text.
        findings: In it, for the rule.
        forms: What is known again wherever it is.
        hashes: Of the state.
    """
    ranks = common_words()
    for form in forms:
        entries.add_form(rule, form, hashes)
        if form.lower() not in ranks:  # of an everyday word, the plural is one too
            for plural in plurals(form):
                entries.add_form(rule, plural, hashes, whole=True)
    there = [  # another split may cut a date in two, so its words are kept as well
        finding.span
        for finding in findings
        if finding.reason in IN_PLACE or " " in finding.span.of(folded.original)
    ]
    if not there:
        return
    hidden = SpanUnion(there)
    indices, words = context_words(folded)
    for index, (start, end) in enumerate(indices):
        span = folded.span(start, end)
        if hidden.overlaps(span):
            if len(words) == 1:
                entries.add_form(rule, words[0], hashes)
            entries.add_word(rule, words, index, hashes)


def _names_people(constraint: Constraint) -> bool:
    return "PERSON" in parse(constraint).types or speaks_of_people(constraint.text)
