"""
People who act in an office, for a policy that spares them: `spare: public_officials`.

A mention is spared only where it bears the title of an office itself. What is found
without a title in the same document is withheld in every form, the titled one included,
so sparing never shows a name that somebody without an office bears.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from sdrag.detectors.local.lexicon import listed
from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.vocabulary import Finding, Mention, Span

__all__ = ["spared", "titled_officials"]

_OFFICES = listed(
    """
    Judge Justice Magistrate Constable Constables Inspector Superintendent Detective
    Sergeant Commissioner Ambassador Minister President Chancellor Governor Mayor
    """
)


def titled_officials(text: str, mentions: Sequence[Mention]) -> tuple[Span, ...]:
    """Return where people are named under the title of an office."""
    offices = {
        mention.span.end
        for mention in mentions
        if mention.type == "TITLE" and mention.span.of(text) in _OFFICES
    }
    return tuple(
        mention.span
        for mention in mentions
        if mention.type == "PERSON"
        and mention.span.start - 1 in offices
        and text[mention.span.start - 1] == " "
    )


def spared(
    findings: Iterable[Finding],
    asked: Sequence[ParsedConstraint],
    officials: Sequence[Span],
) -> list[Finding]:
    """
    Leave out titled officials where a constraint asks for that, and names nobody.

    Args:
        findings: In one document.
        asked: The constraints.
        officials: Where people are named under the title of an office.
    """
    lenient = {
        parsed.constraint.id
        for parsed in asked
        if parsed.constraint.spare == "public_officials"
        and not (parsed.names or parsed.statement or parsed.identifying)
    }
    ordered = sorted(officials)
    starts = [official.start for official in ordered]
    # How far those reach that begin so early.
    reached = list(accumulate((official.end for official in ordered), max))

    def is_official(span: Span) -> bool:
        index = bisect_right(starts, span.start) - 1
        return index >= 0 and reached[index] >= span.end

    return [
        finding
        for finding in findings
        if finding.constraint_id not in lenient or not is_official(finding.span)
    ]
