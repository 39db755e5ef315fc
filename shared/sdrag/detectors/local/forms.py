"""
The second pass: a name seen once in full is found in every shorter form.

A surname or given name of a person, initials ("K.F."), and the acronym of an
organisation are taken from the first pass and looked for in the whole text, at the
starts of sentences and in capitals too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdrag.detectors.local import lexicon, tables
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.tokens import Tokens, tokenize

__all__ = ["forms"]

_SURE = 0.6


def forms(tokens: Tokens, first: Iterable[Found]) -> Iterator[Found]:
    """Yield later mentions of the people and organisations of the first pass."""
    parts: dict[str, str] = {}
    initials: set[str] = set()
    for found in first:
        if found.confidence < _SURE or found.type not in _NAMED:
            continue
        words = tokenize(tokens.text[found.start : found.end]).words
        if found.type == "PERSON":
            parts.update((w, "PERSON") for w in words if _telling(w, found.confidence))
            if len(words) > 1:
                initials.add("".join(w[0] for w in words if w[0].isupper()))
        else:
            parts.setdefault("".join(w[0] for w in words if w[0].isupper()), found.type)
            if len(words) == 1:
                parts.setdefault(words[0], found.type)
    yield from _seen(tokens, parts)
    yield from _initialled(tokens, initials)


_NAMED = frozenset(("PERSON", "ORGANIZATION", "LOCATION"))


def _telling(word: str, confidence: float) -> bool:
    if len(word) < 3 or not word[0].isupper() or word in lexicon.TITLES:
        return False
    return confidence > 0.8 or word.lower() not in tables.common_words()


def _seen(tokens: Tokens, parts: dict[str, str]) -> Iterator[Found]:
    shouted = {word.upper(): word for word in parts if len(word) > 3}
    for index, word in enumerate(tokens.words):
        if not word[0].isupper():
            continue
        name = word if word in parts else shouted.get(word)
        if name is not None and len(name) > 1:
            yield Found(
                tokens.starts[index], tokens.ends[index], parts[name], 0.85, "form"
            )


def _initialled(tokens: Tokens, initials: set[str]) -> Iterator[Found]:
    words = tokens.words
    for index in range(len(words) - 1):
        if len(words[index]) == 1 and words[index] + words[index + 1] in initials:
            if tokens.gap(index + 1) in (".", ". "):
                end = tokens.ends[index + 1]
                end += tokens.text[end : end + 1] == "."
                yield Found(tokens.starts[index], end, "PERSON", 0.85, "initials")
    for index, word in enumerate(words):
        if len(word) in (2, 3) and word in initials:
            yield Found(
                tokens.starts[index], tokens.ends[index], "PERSON", 0.6, "initials"
            )
