"""What the policy's own patterns match, for the constraints that name them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdrag.detectors.own_patterns import find_matches
from sdrag.disclosure.constraint_parser import PATTERN, ParsedConstraint
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.text.spans import shift
from sdrag.vocabulary import Finding, Pattern


def find_by_pattern(
    document: JoinedText, parsed_rules: Sequence[ParsedConstraint]
) -> Iterator[Finding]:
    """Yield a finding for what a named pattern matches, in each passage by itself."""
    naming: dict[Pattern, list[str]] = {}
    for parsed in parsed_rules:
        for pattern in parsed.constraint.patterns if PATTERN in parsed.types else ():
            naming.setdefault(pattern, []).append(parsed.constraint.id)
    for passage in filter(None, document.passages if naming else ()):
        for pattern, span in find_matches(passage.of(document.text), [*naming]):
            for name in naming[pattern]:
                whole = shift(span, passage.start)
                yield Finding(whole, name, "pattern", type=PATTERN)
