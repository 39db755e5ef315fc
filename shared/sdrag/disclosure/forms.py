"""
What is to be known again of what was found, and its other forms.

Names, codes and whatever else was found by its form or by a model go wherever they
are in their document, with the other forms of names, and so is a rare word that surely
tells a secret. Any other word that was hidden for what it means there goes wherever the
same words are next to it.

"Jonathan Meyers" once and "Meyers" from then on is how people write, and a redaction
that knows only the full name leaves the surname standing. Forms are derived from names
alone, and only for constraints that speak of people: "Port Ellery" must not take every
"Port" with it. `text.names` and `text.values` say which forms there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sdrag.detectors.local.tables import MONTHS, common_words
from sdrag.disclosure.constraint_parser import parse
from sdrag.state.keys import DocumentKeys
from sdrag.state.register import Form, find_words, make_forms, make_word
from sdrag.text.folding import fold
from sdrag.text.names import name_forms, plurals
from sdrag.text.phrase_matcher import needs_case
from sdrag.text.spans import SpanUnion
from sdrag.text.values import value_forms
from sdrag.vocabulary import Constraint, Finding

IN_PLACE = frozenset({"scored", "cue"})
"""Who finds words for what they mean where they are."""
_OF_PEOPLE = frozenset({"", "PERSON"})
"""Types whose parts are names too; an organisation's may be everyday words."""

_NAMES = frozenset({"LOCATION", "ORGANIZATION", "PERSON"})

_PEOPLE = re.compile(
    r"\b(?:names?|named|who|whom|whose|identit\w+|identif\w+|person\w*|people|wit"
    r"ness\w*|victims?|patients?|suspects?|perpetrators?|clients?|minors?|children"
    r"|anonym\w+)\b",
    re.IGNORECASE,
)
_SHORTEST = 3


def find_forms(
    text: str,
    findings: Sequence[Finding],
    constraint: Constraint,
    keys: DocumentKeys,
) -> set[Form]:
    """Return what is to be known again of one constraint's findings in a text."""
    forms: set[Form] = set()
    ranks = common_words()
    other = {f.span.of(text) for f in findings if not _is_name(f)}
    for surface in find_surfaces(text, findings, constraint):
        everyday = surface not in other and _is_everyday(surface)
        forms.update(make_forms(surface, keys, everyday=everyday))
        if surface.lower() not in ranks:  # of an everyday word, the plural is one too
            for plural in plurals(surface):
                forms.update(make_forms(plural, keys, whole=True))
    there = [  # another split may cut a date in two, so its words are kept as well
        finding.span
        for finding in findings
        if finding.reason in IN_PLACE or " " in finding.span.of(text)
    ]
    if not there:
        return forms
    folded, hidden = fold(text), SpanUnion(there)
    places, words = find_words(folded)
    for index, (start, end) in enumerate(places):
        if hidden.overlaps(folded.span(start, end)):
            forms.add(make_word(words, index, keys))
            if len(words) == 1:
                forms.update(make_forms(words[0], keys))
    return forms


def _is_name(finding: Finding) -> bool:
    return finding.type in _NAMES or finding.reason == "named"


def _is_everyday(surface: str) -> bool:
    """Return True for a word that in small letters says something else, too."""
    return surface.lower() in common_words() or surface in MONTHS


def find_surfaces(
    text: str, findings: Iterable[Finding], constraint: Constraint
) -> Iterator[str]:
    """Yield the forms that a constraint withholds throughout the document."""
    lasting = [finding for finding in findings if finding.reason not in IN_PLACE]
    known = {finding.span.of(text) for finding in lasting}
    known |= {form for surface in known for form in value_forms(surface)}
    people = "PERSON" in parse(constraint).types or _PEOPLE.search(constraint.text)
    if known and people:
        ranks = common_words()
        known |= {
            form
            for finding in lasting
            for form in name_forms(finding.span.of(text), ranks)
            if finding.type in _OF_PEOPLE or form.lower() not in ranks
        }
    yield from filter(lasts, known)


def lasts(form: str) -> bool:
    """Say whether a form may go wherever it is: "of" and "12", found once, may not."""
    word = form.strip().lower()
    if word.isdigit():
        return len(word) >= _SHORTEST
    return not (needs_case(form) and word in common_words())
