"""Patterns of a user's own: they match in linear time, whatever they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import re2

from sdrag.text.folding import replace_surrogates
from sdrag.vocabulary import Span

_PAGE = """\
Minutes of the meeting of 4 March 2024, in room 12. Present were seven members; Ms Lee
was in the chair. The budget of 12,400 was agreed after some discussion, and the repair
of the roof was put off until the summer. A letter from the council had arrived too
late to be read. The next meeting is on Tuesday at 10:30. Any other business: the key of
the old store has been found, and will be kept at the desk.
"""
_MOST = 0.5
"""The share of the letters and digits of a page from which on all of it would go."""


class LinearPattern:
    """
    A pattern in the syntax of RE2; letters match in any case.

    Args:
        pattern: Of a user.

    Raises:
        ValueError: It is none.
    """

    def __init__(self, pattern: str) -> None:
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        try:
            self._compiled = re2.compile(pattern, options)
        except (re2.error, UnicodeError):
            # Their messages quote the pattern.
            raise ValueError("this is no pattern in the syntax of RE2") from None

    def find(self, text: str, group: int = 0) -> Iterator[Span]:
        """Yield where it, or a group of it, matches something."""
        for match in self._compiled.finditer(replace_surrogates(text)):
            if match.start(group) < match.end(group):
                yield Span(*match.span(group))

    def matches(self, text: str) -> bool:
        """Say whether it matches anything in a text."""
        return self._compiled.search(replace_surrogates(text)) is not None

    def check_narrow(self, group: int) -> None:
        """
        Refuse what would hide far more than a type of values.

        Raises:
            ValueError: It matches nothing at all, or most of a page, or has no such
                group.
        """
        if group > self._compiled.groups:
            raise ValueError(f"the pattern has no group {group}")
        matches = (each.span() for each in self._compiled.finditer(_PAGE))
        if self.matches("") or any(start == end for start, end in matches):
            raise ValueError("the pattern matches the empty string")
        taken = sum(_weight(span.of(_PAGE)) for span in self.find(_PAGE, group))
        if taken > _MOST * _weight(_PAGE):
            raise ValueError(
                "the pattern matches most of a page; letters match in any case, but"
                " for those behind `(?-i)`"
            )


@lru_cache(maxsize=1024)
def linear_pattern(pattern: str) -> LinearPattern:
    """Compile a pattern, once in a process."""
    return LinearPattern(pattern)


@lru_cache(maxsize=1024)
def naming(name: str) -> re.Pattern[str]:
    """Return what finds the name of a pattern in a sentence, in the plural too."""
    *first, last = map(re.escape, re.split(r"[\s_-]+", name.strip()))
    stem = f"{last[:-1]}(?:ys?|ies)" if last.endswith("y") else f"{last}(?:e?s)?"
    return re.compile(rf"(?<!\w){'[ _-]'.join([*first, stem])}(?!\w)", re.IGNORECASE)


def _weight(text: str) -> int:
    return sum(map(str.isalnum, text))
