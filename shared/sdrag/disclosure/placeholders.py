"""
What stands in the place of what was cut out.

The same mark for everything (`[REDACTED]`, the default), the label of the constraint
(`[doses]`), or an indefinite phrase (`some dose`) that leaves a sentence a sentence.
A phrase says no more than its constraint does: which kind of thing is not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from sdrag.disclosure.constraint_parser import parse
from sdrag.policy import DisclosureSection
from sdrag.vocabulary import Constraint, Finding, Span

__all__ = ["beside_placeholders", "placeholders"]

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
    Return what stands in place of what each constraint takes out, by its id.

    Args:
        constraints: All that are enforced.
        section: Says of what kind placeholders are.
    """
    if section.placeholders == "label":
        return {rule.id: f"[{rule.id}]" for rule in constraints}
    if section.placeholders == "phrase":
        return {rule.id: _phrase(rule) for rule in constraints}
    return {rule.id: section.placeholder for rule in constraints}


def beside_placeholders(
    text: str, findings: Sequence[Finding], marks: Iterable[str]
) -> list[Finding]:
    """
    Leave out findings within a placeholder that already stands in a text.

    Args:
        text: What the findings point into.
        findings: Of any constraints.
        marks: Placeholders.
    """
    pattern = re.compile("|".join(map(re.escape, dict.fromkeys(marks))))
    standing = [Span(*match.span()) for match in pattern.finditer(text)]
    return [
        finding
        for finding in findings
        if not any(mark.contains(finding.span) for mark in standing)
    ]


def _phrase(constraint: Constraint) -> str:
    """Take the phrase of the first type that the constraint names."""
    named = parse(constraint).types
    return next((said for type_, said in _PHRASES.items() if type_ in named), _ANYTHING)
