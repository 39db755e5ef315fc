"""Patterns of a user's own: they match in linear time, whatever they say."""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from sdrag.vocabulary import Span

_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which has no UTF-8; a text that was badly decoded holds some."""


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

    def find(self, text: str) -> Iterator[Span]:
        """Yield where it matches something."""
        for match in self._compiled.finditer(_SURROGATE.sub("\ufffd", text)):
            if match.start() < match.end():
                yield Span(*match.span())
