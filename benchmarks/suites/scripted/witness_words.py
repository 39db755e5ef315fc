"""
Where the words are that constraints protect.

A constraint protects words and phrases: its witnesses. Each stands wherever it is found
at word boundaries, whatever its case. The evaluation's judge of what leaked and the
model that knows everything both look here, so the one is right by the measure of the
other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential

_WORD = re.compile(r"\w+")
_RUN = 3
"""So many words in a row tell which text they come from."""


@dataclass(frozen=True, slots=True, repr=False)
class Protected(Confidential):
    """
    What constraints protect in a text.

    Args:
        knows: The words of each constraint, and the words and phrases it protects.
        text: The whole text; empty where they are protected wherever they are.
    """

    knows: Mapping[str, Sequence[str]]
    text: str = ""
    _line: str = field(init=False)
    _by_words: Mapping[str, Sequence[str]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_line", in_one_line(self.text))
        by_words = {in_one_line(rule): words for rule, words in self.knows.items()}
        object.__setattr__(self, "_by_words", by_words)

    @property
    def constraints(self) -> Collection[str]:
        """The words of the constraints, each in one line."""
        return self._by_words.keys()

    def witnesses(self, constraint: str) -> Sequence[str]:
        """Return what a constraint protects; nothing for one that is not known."""
        return self._by_words.get(in_one_line(constraint), ())

    def around(self, sentence: str) -> Iterator[tuple[str, int]]:
        """Yield where a sentence stands: in what, and at which place of it."""
        line = in_one_line(sentence)
        if not self._line:
            yield line, 0
            return
        index = self._line.find(line)
        while index >= 0:
            yield self._line, index
            index = self._line.find(line, index + 1)


Known = Mapping[str, Sequence[str]] | Iterable[Protected]
"""What constraints protect: everywhere, or in each of several texts."""


class Sources(Confidential):
    """
    The texts that a model knows all about.

    A constraint that is known of some text protects nothing in the others.

    Args:
        known: What constraints protect in them.
    """

    __slots__ = ("_all", "_constraints", "_runs")

    def __init__(self, known: Known) -> None:
        given = (Protected(known),) if isinstance(known, Mapping) else known
        self._all = tuple(given)
        self._constraints = frozenset(
            c for source in self._all for c in source.constraints
        )
        self._runs = [(_runs(source.text), _words(source.text)) for source in self._all]

    def knows(self, constraint: str) -> bool:
        """Say whether a constraint is known."""
        return in_one_line(constraint) in self._constraints

    def of(self, shown: str) -> tuple[Protected, ...]:
        """Return the text that shown words come from; several that are as likely."""
        if len(self._all) < 2:
            return self._all
        runs, words = _runs(shown), _words(shown)
        shared = [
            (len(runs & source_runs), len(words & line))
            for source_runs, line in self._runs
        ]
        most = max(shared)
        return tuple(
            source
            for source, count in zip(self._all, shared, strict=True)
            if count == most
        )


def in_one_line(text: str) -> str:
    """Return a text with one space between its words."""
    return " ".join(text.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold_text(text)))


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(fold_text(text))
    return frozenset(
        tuple(words[index : index + _RUN]) for index in range(len(words) - _RUN + 1)
    )
