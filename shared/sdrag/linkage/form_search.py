"""
Known forms, searched for all at once.

One automaton goes over a folded text once, however many forms there are. A match counts
where no word is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ahocorasick_rs import AhoCorasick, MatchKind

from sdrag.text.folding import is_boundary

__all__ = ["FormSearch", "inner_offsets"]

_LONE = re.compile("[\ud800-\udfff]")
"""Halves of a character, which JSON may hold and the automaton does not take."""


def inner_offsets(spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    """Return the offsets at which one of some spans, as start and end, is cut."""
    return frozenset(at for start, end in spans for at in range(start + 1, end))


class FormSearch:
    """
    Finds forms in folded texts.

    Args:
        forms: Folded, none of them empty.
    """

    __slots__ = ("_automaton", "forms")

    def __init__(self, forms: Sequence[str]) -> None:
        self.forms = forms
        whole = [_LONE.sub("\ufffd", form) for form in forms]
        self._automaton = (
            AhoCorasick(whole, matchkind=MatchKind.Standard) if whole else None
        )

    def matches(self, folded: str) -> Iterator[tuple[int, int, int]]:
        """Yield a form's number, and where it starts and ends, as words."""
        if self._automaton is None:
            return
        text = folded if folded.isascii() else _LONE.sub("\ufffd", folded)
        for number, start, end in self._automaton.find_matches_as_indexes(
            text, overlapping=True
        ):
            if is_boundary(text, start) and is_boundary(text, end):
                yield number, start, end
