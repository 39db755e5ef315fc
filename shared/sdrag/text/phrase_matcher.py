"""
Many surface forms searched for in one pass over a folded text.

Every form is filed under its first word and its length, so a text is read once, word by
word, and each word costs one look-up per length, however many forms begin with it.
Forms without a word of a spaced script are searched for one by one.

A form of one or two letters (Li, O.F., OF) is a word of every other sentence once its
case is folded away. Such a form counts only as it was given, and in capitals only where
the words around it are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sdrag.text.folding import UNSPACED, Folded, fold_text, is_boundary, is_unspaced
from sdrag.vocabulary import Confidential, Span

# A run of letters and digits between two boundaries, as `is_boundary` sees them.
_WORD = re.compile(rf"[^\W_{UNSPACED}]+")
_LETTERS = 3
"""A form of so many letters is known whatever its case."""
_BEFORE = re.compile(r"([^\W\d_]{2,})[\W_]*$")
_AFTER = re.compile(r"[\W_]*([^\W\d_]{2,})")
_LONGEST = 500
"""A form with more characters after its first word is searched for by itself. To
compare it at every occurrence of that word would take quadratic time."""
_AROUND = 40
"""So far the words around a form are looked for."""


def needs_case(form: str) -> bool:
    """Say whether a form is so short that it counts in its own case alone."""
    letters = sum(map(str.isalpha, form))
    return 0 < letters < _LETTERS and not any(
        character.isdigit() or is_unspaced(character) for character in form
    )


class PhraseMatcher(Confidential):
    """Surface forms to search for."""

    __slots__ = ("_by_word", "_cased", "_others")

    def __init__(self, forms: Iterable[str]) -> None:
        self._by_word: dict[str, dict[tuple[int, int], set[str]]] = {}
        self._cased: dict[str, set[str]] = {}
        self._others: list[str] = []
        folded = {form: fold_text(form) for form in forms}
        for given, form in folded.items():
            if needs_case(form):
                self._cased.setdefault(form, set()).add(given.strip())
        for form in dict.fromkeys(folded.values()):
            first = _WORD.search(form)
            if first is not None and len(form) - len(first.group()) <= _LONGEST:
                shapes = self._by_word.setdefault(first.group(), {})
                shapes.setdefault((first.start(), len(form)), set()).add(form)
            elif form:
                self._others.append(form)

    def __bool__(self) -> bool:
        return bool(self._by_word or self._others)

    def __repr__(self) -> str:
        return f"PhraseMatcher({sum(1 for _ in self.forms())})"

    def forms(self) -> Iterator[str]:
        """Yield every form, folded."""
        for shapes in self._by_word.values():
            for forms in shapes.values():
                yield from forms
        yield from self._others

    def find(self, folded: Folded) -> Iterator[Span]:
        """Yield where any form is at word boundaries; spans may overlap."""
        for start, end in self._positions(folded):
            yield folded.span(start, end)

    def occur(self, text: Folded) -> bool:
        """Say whether any form is in the text."""
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
                    and self._in_its_case(folded, start, end)
                ):
                    yield start, end
        for form in self._others:
            for start in folded.positions(form):
                yield start, start + len(form)

    def _in_its_case(self, folded: Folded, start: int, end: int) -> bool:
        """Say whether a short form is there as it was given."""
        given = self._cased.get(folded.text[start:end])
        if given is None:
            return True
        span = folded.span_before(start, end)
        return span.of(folded.original) in given and in_its_case(folded.original, span)


def in_its_case(text: str, span: Span) -> bool:
    """Say whether a short form in capitals is where capitals say something."""
    said = span.of(text)
    return not (said.isupper() and said.isalpha() and _among_capitals(text, span))


def _among_capitals(text: str, span: Span) -> bool:
    """Say whether a word next to a span is in capitals."""
    around = (
        _BEFORE.search(text[max(0, span.start - _AROUND) : span.start]),
        _AFTER.match(text, span.end, span.end + _AROUND),
    )
    return any(word[1].isupper() for word in around if word)
