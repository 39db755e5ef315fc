"""
Many surface forms searched for in one pass over a folded text.

All forms are one automaton, so ten thousand cost what one costs. A match counts where
it cuts no word, and matches may overlap.

A form of one or two letters (Li, O.F., OF) is a word of every other sentence once its
case is folded away. Such a form counts only as it was given, and in capitals only where
the words around it are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ahocorasick_rs import AhoCorasick, MatchKind

from sdrag.text.folding import (
    Folded,
    fold_text,
    is_boundary,
    is_unspaced,
    replace_surrogates,
)
from sdrag.vocabulary import Confidential, Span

_LETTERS = 3
"""A form of so many letters is known whatever its case."""
_BEFORE = re.compile(r"([^\W\d_]{2,})[\W_]*$")
_AFTER = re.compile(r"[\W_]*([^\W\d_]{2,})")
_AROUND = 40
"""So far the words around a form are looked for."""


def needs_case(form: str) -> bool:
    """Say whether a form is so short that it counts in its own case alone."""
    letters = sum(map(str.isalpha, form))
    return 0 < letters < _LETTERS and not any(
        character.isdigit() or is_unspaced(character) for character in form
    )


class FormSearch(Confidential):
    """
    Forms to search for, whatever their case.

    Args:
        forms: Folded, each once.
    """

    __slots__ = ("_automaton", "forms")

    def __init__(self, forms: Iterable[str]) -> None:
        self.forms = tuple(forms)
        whole = [*map(replace_surrogates, self.forms)]
        self._automaton = (
            AhoCorasick(whole, matchkind=MatchKind.Standard) if whole else None
        )

    def __bool__(self) -> bool:
        return bool(self.forms)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.forms)})"

    def matches(self, folded: str) -> Iterator[tuple[int, int, int]]:
        """Yield a form's number, and where it starts and ends, where no word is cut."""
        if self._automaton is None:
            return
        text = replace_surrogates(folded)
        for number, start, end in self._automaton.find_matches_as_indexes(
            text, overlapping=True
        ):
            if is_boundary(text, start) and is_boundary(text, end):
                yield number, start, end


class PhraseMatcher(FormSearch):
    """Surface forms to search for, as they are given; short ones in their case."""

    __slots__ = ("_cased",)

    def __init__(self, forms: Iterable[str]) -> None:
        folded = {form: fold_text(form) for form in forms}
        super().__init__(filter(None, dict.fromkeys(folded.values())))
        self._cased: dict[str, set[str]] = {}
        for given, form in folded.items():
            if needs_case(form):
                self._cased.setdefault(form, set()).add(given.strip())

    def find(self, folded: Folded) -> Iterator[Span]:
        """Yield where any form is at word boundaries; spans may overlap."""
        for number, start, end in self.matches(folded.text):
            if given := self._cased.get(self.forms[number]):
                span = folded.span_before(start, end)
                surface = span.of(folded.original)
                if surface not in given or not in_its_case(folded.original, span):
                    continue
            yield folded.span(start, end)

    def occur(self, text: Folded) -> bool:
        """Say whether any form is in the text."""
        return any(True for _ in self.find(text))


def in_its_case(text: str, span: Span) -> bool:
    """Say whether a short form in capitals has no word in capitals next to it."""
    surface = span.of(text)
    if not (surface.isupper() and surface.isalpha()):
        return True
    around = (
        _BEFORE.search(text[max(0, span.start - _AROUND) : span.start]),
        _AFTER.match(text, span.end, span.end + _AROUND),
    )
    return not any(word[1].isupper() for word in around if word)
