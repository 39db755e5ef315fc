"""
What the policy's own patterns match, as they are written and in plain characters.

A dash or a digit of another script hides nothing. Where a pattern has cues, one of them
must be near. For linkage a match is a code: it may be of one person alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from sdrag.detectors import Detector
from sdrag.detectors.local.plain_text import plain_text
from sdrag.detectors.models import UnionDetector
from sdrag.effects.steps import Outcome, Steps, try_each
from sdrag.policy import Policy
from sdrag.text.patterns import LinearPattern, linear_pattern
from sdrag.vocabulary import Mention, Pattern, Span

_AT_ONCE = 25
"""So many patterns are searched for together first: most texts hold none."""
_NEAR = 40
"""Characters on both sides of a match in which a cue counts."""


@dataclass(frozen=True, slots=True)
class PatternDetector:
    """
    Finds what patterns match, as codes.

    Args:
        patterns: Of a policy.
    """

    patterns: tuple[Pattern, ...] = field(repr=False)
    finds: frozenset[str] = frozenset({"CODE"})

    @property
    def identity(self) -> str:
        """Names it with its patterns, which may quote what is hidden: in no repr."""
        said = [(p.name, p.pattern, p.group, p.cues) for p in self.patterns]
        return f"PatternDetector({said})"

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """Find the mentions in each text, as `Detector` says."""
        yield from ()
        return try_each(self._read, texts)

    def _read(self, text: str) -> tuple[Mention, ...]:
        spans = {span for _, span in find_matches(text, self.patterns)}
        return tuple(Mention(span, "CODE", 1.0, "pattern") for span in sorted(spans))


def with_patterns(detector: Detector, policy: Policy) -> Detector:
    """Return a detector that finds what a policy's patterns match as well."""
    patterns = tuple(p for each in policy.patterns for p in each.described())
    if not patterns:
        return detector
    return UnionDetector((detector, PatternDetector(patterns)))


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
