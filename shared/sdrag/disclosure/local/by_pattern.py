"""
What the policy's own patterns match, for the constraints that name them.

A pattern is read over each passage by itself, as it is written and in plain characters,
so a dash or a digit of another script hides nothing. Where it has cues, one of them
must be near.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sdrag.detectors.local.plain_text import plain_text
from sdrag.disclosure.constraint_parser import PATTERN, ParsedConstraint
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.text.patterns import LinearPattern, linear_pattern
from sdrag.text.spans import shift
from sdrag.vocabulary import Finding, Pattern, Span

_AT_ONCE = 25
"""So many patterns are searched for together first: most texts hold none."""
_NEAR = 40
"""Characters on both sides of a match in which a cue counts."""


def find_by_pattern(
    document: JoinedText, parsed_rules: Sequence[ParsedConstraint]
) -> Iterator[Finding]:
    """Yield a finding for whatever a pattern matches that a constraint names."""
    naming: dict[Pattern, list[str]] = {}
    for parsed in parsed_rules:
        for pattern in parsed.constraint.patterns if PATTERN in parsed.types else ():
            naming.setdefault(pattern, []).append(parsed.constraint.id)
    for passage in filter(None, document.passages if naming else ()):
        for pattern, span in find_matches(passage.of(document.text), [*naming]):
            for name in naming[pattern]:
                whole = shift(span, passage.start)
                yield Finding(whole, name, "pattern", type=PATTERN)


def find_matches(
    text: str, patterns: Sequence[Pattern]
) -> Iterator[tuple[Pattern, Span]]:
    """Yield what patterns match in a text, pattern by pattern."""
    plain = plain_text(text)
    for start in range(0, len(patterns), _AT_ONCE):
        some = patterns[start : start + _AT_ONCE]
        may_match = _any_of(tuple(each.pattern for each in some))
        is_read = may_match.matches(text), may_match.matches(plain.text)
        for pattern in some if any(is_read) else ():
            spans = {*_find(text, pattern)}
            found = _find(plain.text, pattern) if plain.text != text else ()
            spans.update(plain.span(span.start, span.end) for span in found)
            yield from ((pattern, span) for span in sorted(spans))


@lru_cache(maxsize=256)
def _any_of(patterns: tuple[str, ...]) -> LinearPattern:
    """Return what matches wherever one of the patterns does."""
    try:
        return LinearPattern("|".join(f"(?:{each})" for each in patterns))
    except ValueError:  # together they are too large, or name a group twice
        return LinearPattern("")


def _find(text: str, pattern: Pattern) -> Iterator[Span]:
    """Yield what a pattern matches beside one of its cues."""
    cue = _cue(pattern.cues) if pattern.cues else None
    for span in linear_pattern(pattern.pattern).find(text, pattern.group):
        before = text[max(0, span.start - _NEAR) : span.start]
        after = text[span.end : span.end + _NEAR]
        if cue is None or cue.search(before) or cue.search(after):
            yield span


@lru_cache(maxsize=1024)
def _cue(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?i)(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)")
