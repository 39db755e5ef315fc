"""
Words and numbers of a text, in one scan, and where each word stands.

The index is what keeps the rules quick: a rule asks for the places of its own cue words
and looks around them, so that nothing else of the text is read again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sdrag.detectors.local.lexicon import listed
from sdrag.vocabulary import Confidential

__all__ = ["Tokens", "tokenize"]

# A word with its inner apostrophes (not a genitive), or a number with its inner marks.
_TOKEN = re.compile(r"[^\W\d_]+(?:'(?!s\b)[^\W\d_]+)*|\d+(?:[.,:/]\d+)*")
_OPENS = ".!?:;\n"
_CLOSERS = "\"')]} \t*#>_-"


@dataclass(frozen=True, slots=True, repr=False)
class Tokens(Confidential):
    """
    Tokens in order.

    Args:
        text: What was scanned.
        words: Each token's characters.
        starts: Where each starts.
        ends: Where each ends.
        where: The tokens that are a word, by that word.
        numbers: The tokens that begin with a digit.
        capitals: The tokens that begin with a capital.
    """

    text: str
    words: list[str]
    starts: list[int]
    ends: list[int]
    where: Mapping[str, list[int]]
    numbers: list[int]
    capitals: list[int]

    def gap(self, index: int) -> str:
        """Return what stands between the token and the one before it."""
        before = self.ends[index - 1] if index else 0
        return self.text[before : self.starts[index]]

    def places(self, words: Iterable[str]) -> Iterator[int]:
        """Yield the tokens that are one of the words, word by word."""
        where = self.where
        for word in words:
            if word in where:
                yield from where[word]

    def opens_sentence(self, index: int) -> bool:
        """Say whether a sentence, heading or list item may start with the token."""
        gap = self.gap(index)
        if index and gap == " ":
            return False
        if index == 0 or "\n" in gap:
            return True
        before = gap.rstrip(_CLOSERS)
        if not before:
            return '"' in gap and "," not in gap
        if before[-1] in ".:" and self._abbreviated(index - 1):
            return False
        return before[-1] in _OPENS

    def _abbreviated(self, index: int) -> bool:
        word = self.words[index]
        return len(word) == 1 or word in _ABBREVIATIONS


_ABBREVIATIONS = listed(
    "Mr Mrs Ms Dr Prof St Rev Capt Lt Col Gen Maj Sgt Sen Gov Hon No nos no Jr Sr vs"
)


def tokenize(text: str) -> Tokens:
    """Scan a text."""
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    where: defaultdict[str, list[int]] = defaultdict(list)
    for match in _TOKEN.finditer(text):
        word = match.group()
        where[word].append(len(words))
        words.append(word)
        start, end = match.span()
        starts.append(start)
        ends.append(end)
    # Every occurrence of a word has the same first letter: look at each word once.
    numbers = [i for word in where if word[0].isdigit() for i in where[word]]
    capitals = [i for word in where if word[0].isupper() for i in where[word]]
    return Tokens(
        text, words, starts, ends, dict(where), sorted(numbers), sorted(capitals)
    )
