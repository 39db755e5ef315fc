"""Patterns of a user's own: they match in linear time, whatever they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import re2


class _Match(Protocol):
    def span(self) -> tuple[int, int]: ...


class Pattern(Protocol):
    """A compiled pattern, as far as it is used."""

    def finditer(self, text: str) -> Iterator[_Match]:
        """Yield the matches in a text."""
        ...


def compile_pattern(pattern: str) -> Pattern:
    """
    Compile a pattern in the syntax of RE2; letters match in any case.

    Raises:
        ValueError: It is none.
    """
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    try:
        compiled: Pattern = re2.compile(pattern, options)
    except re2.error:
        # Its message quotes the pattern.
        raise ValueError("this is no pattern in the syntax of RE2") from None
    return compiled
