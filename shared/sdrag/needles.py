"""
Many surface forms searched for in one pass over a folded text.

Every form is filed under its first word and its length, so a text is read once, word by
word, and each word costs one look-up per length, however many forms begin with it.
Forms without a word of a spaced script are searched for one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sdrag.folding import UNSPACED, Folded, fold_text, is_boundary
from sdrag.vocabulary import Confidential, Span

__all__ = ["Needles"]

# A run of letters and digits between two boundaries, as `is_boundary` sees them.
_WORD = re.compile(rf"[^\W_{UNSPACED}]+")


class Needles(Confidential):
    """
    Surface forms to search for.

    Args:
        forms: In any spelling; they are folded here.
    """

    __slots__ = ("_by_word", "_others")

    def __init__(self, forms: Iterable[str]) -> None:
        self._by_word: dict[str, dict[tuple[int, int], set[str]]] = {}
        self._others: list[str] = []
        for form in dict.fromkeys(fold_text(form) for form in forms):
            first = _WORD.search(form)
            if first is not None:
                shapes = self._by_word.setdefault(first.group(), {})
                shapes.setdefault((first.start(), len(form)), set()).add(form)
            elif form:
                self._others.append(form)

    def __bool__(self) -> bool:
        return bool(self._by_word or self._others)

    def __repr__(self) -> str:
        return f"Needles({sum(1 for _ in self.forms())})"

    def forms(self) -> Iterator[str]:
        """Yield every form, folded."""
        for shapes in self._by_word.values():
            for forms in shapes.values():
                yield from forms
        yield from self._others

    def find(self, folded: Folded) -> Iterator[Span]:
        """Yield where any form stands at word boundaries; spans may overlap."""
        for start, end in self._positions(folded):
            yield folded.span(start, end)

    def occur(self, text: Folded) -> bool:
        """Say whether any form stands in the text."""
        return next(self._positions(text), None) is not None

    def _positions(self, folded: Folded) -> Iterator[tuple[int, int]]:
        text = folded.text
        for word in _WORD.finditer(text) if self._by_word else ():
            for (offset, length), forms in self._by_word.get(word.group(), {}).items():
                start = word.start() - offset
                end = start + length
                if (
                    start >= 0
                    and text[start:end] in forms
                    and is_boundary(text, start)
                    and is_boundary(text, end)
                ):
                    yield start, end
        for form in self._others:
            for start in folded.positions(form):
                yield start, start + len(form)
