"""Bare numbers, in digits and in words: what they count only their reader can say."""

from __future__ import annotations

from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import NUMBER_WORDS
from sdrag.detectors.local.tokens import Tokens

__all__ = ["counts"]

_ONE = frozenset(("one", "once", "half", "couple"))


def counts(tokens: Tokens) -> Iterator[Found]:
    """Yield numbers, with a confidence too low to mask them for themselves."""
    words = tokens.words
    index = 0
    while index < len(words):
        last = index
        if words[index][0].isdigit():
            yield Found(
                tokens.starts[index], tokens.ends[index], "NUMBER", 0.3, "digits"
            )
        elif words[index].lower() in NUMBER_WORDS:
            while (
                last + 1 < len(words)
                and words[last + 1] in NUMBER_WORDS
                and tokens.gap(last + 1) in (" ", "-")
            ):
                last += 1
            if words[index].lower() not in _ONE or last > index:
                yield Found(
                    tokens.starts[index], tokens.ends[last], "NUMBER", 0.2, "words"
                )
        index = last + 1
