"""
What is in the place of what was cut out.

The same mark for everything (`[REDACTED]`, the default), the label of the constraint
(`[doses]`), or an indefinite phrase (`some dose`) that leaves a sentence a sentence.
A phrase says no more than its constraint does: which kind of thing is not told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from sdrag.disclosure.constraint_parser import parse
from sdrag.policy import DisclosureSection
from sdrag.vocabulary import Constraint

__all__ = ["any_of", "marks_of", "placeholders"]

_PHRASES = {
    "PERSON": "someone",
    "DATE": "some date",
    "TIME": "some time",
    "DURATION": "some time",
    "AGE": "some age",
    "MONEY": "some amount",
    "DOSE": "some dose",
    "PHONE_NUMBER": "some number",
    "EMAIL_ADDRESS": "some address",
    "ADDRESS": "somewhere",
    "LOCATION": "somewhere",
    "COORDINATES": "somewhere",
    "ORGANIZATION": "some organisation",
    "JOB_TITLE": "some occupation",
    "NATIONALITY": "some nationality",
    "CONDITION": "some condition",
    "CREDENTIAL": "some secret",
    "CODE": "some code",
    "QUANTITY": "some quantity",
    "NUMBER": "some number",
}
_ANYTHING = "something"


def placeholders(
    constraints: Sequence[Constraint], section: DisclosureSection
) -> Mapping[str, str]:
    """
    Return what is in place of what each constraint takes out, by its id.

    Args:
        constraints: All that are enforced.
        section: Says of what kind placeholders are.
    """
    if section.placeholders == "label":
        return {rule.id: f"[{rule.id}]" for rule in constraints}
    if section.placeholders == "phrase":
        return {rule.id: _phrase(rule) for rule in constraints}
    return {rule.id: section.placeholder for rule in constraints}


def marks_of(
    constraints: Sequence[Constraint], section: DisclosureSection
) -> tuple[str, ...]:
    """Return every placeholder that may be in a text already."""
    said = placeholders(constraints, section).values()
    return tuple(dict.fromkeys((section.placeholder, *said)))


@lru_cache(maxsize=64)
def any_of(marks: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds any of some placeholders."""
    return re.compile("|".join(map(re.escape, marks)))


def _phrase(constraint: Constraint) -> str:
    """Take the phrase of the first type that the constraint names."""
    named = parse(constraint).types
    return next((said for type_, said in _PHRASES.items() if type_ in named), _ANYTHING)
