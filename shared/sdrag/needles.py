"""
Many surface forms searched for in one pass over a folded text.

Every form is filed under its first word, so a text is read once, word by word, however
many forms there are. Forms that begin in a script without spaces, or hold no word at
all, are searched for one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sdrag.folding import Folded, fold_text, is_boundary
from sdrag.vocabulary import Confidential, Span

__all__ = ["Needles"]

_TOKEN = re.compile(r"\w+")


class Needles(Confidential):
    """
    Surface forms to search for.

    Args:
        forms: In any spelling; they are folded here.
    """

    __slots__ = ("_by_word", "_others")

    def __init__(self, forms: Iterable[str]) -> None:
        self._by_word: dict[str, list[tuple[int, str]]] = {}
        self._others: list[str] = []
        for form in dict.fromkeys(fold_text(form) for form in forms):
            first = _TOKEN.search(form)
            if first is None or not is_word_script(first.group()):
                self._others += [form] if form else []
            else:
                entry = (first.start(), form)
                self._by_word.setdefault(first.group(), []).append(entry)

    def __bool__(self) -> bool:
        return bool(self._by_word or self._others)

    def __repr__(self) -> str:
        count = sum(map(len, self._by_word.values())) + len(self._others)
        return f"Needles({count})"

    def find(self, folded: Folded) -> Iterator[Span]:
        """Yield where any form stands at word boundaries; spans may overlap."""
        for start, end in self._positions(folded):
            yield folded.span(start, end)

    def occur(self, text: Folded) -> bool:
        """Say whether any form stands in the text."""
        return next(self._positions(text), None) is not None

    def _positions(self, folded: Folded) -> Iterator[tuple[int, int]]:
        text = folded.text
        for token in _TOKEN.finditer(text) if self._by_word else ():
            for offset, form in self._by_word.get(token.group(), ()):
                start = token.start() - offset
                end = start + len(form)
                if (
                    start >= 0
                    and text.startswith(form, start)
                    and is_boundary(text, start)
                    and is_boundary(text, end)
                ):
                    yield start, end
        for form in self._others:
            for start in folded.positions(form):
                yield start, start + len(form)


def is_word_script(word: str) -> bool:
    """Say whether a word is written in a script that puts spaces between words."""
    return not is_boundary(word + word, len(word))
