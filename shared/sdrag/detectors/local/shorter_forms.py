"""
The second pass: a name seen once in full is found in every shorter form.

A surname or given name of a person, initials ("K.F."), and the acronym of an
organisation are taken from the first pass and looked for in the whole text, at the
starts of sentences and in capitals too. A word that is a person in one sentence and a
firm in another is a form of both: no sentence takes a type from another.

Initials are short, so they count in their own case alone, never as a word that
everybody uses, and without points only where the words around are not in capitals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdrag.detectors.local import tables
from sdrag.detectors.local.plain_text import plain_text
from sdrag.detectors.local.runs import is_common
from sdrag.detectors.local.tokens import Candidate, Tokens, tokenize
from sdrag.vocabulary import Mention, Span

_SURE = 0.6
_SPELT = 0.5
_SHORT = 3
_NAMED = frozenset(("PERSON", "ORGANIZATION", "LOCATION"))


def forms(tokens: Tokens, first: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield later mentions of the people and organisations of the first pass."""
    parts: dict[tuple[str, str], float] = {}
    initials: set[str] = set()
    for (name, type_), confidence in _surest(tokens.text, first).items():
        words = tokenize(name).words
        for word in _parts(words, type_, confidence):
            parts[word, type_] = max(parts.get((word, type_), 0.0), confidence)
        capitals = "".join(word[0] for word in words if word[0].isupper())
        if type_ == "PERSON" and len(capitals) > 1:
            initials.add(capitals)
    yield from _seen(tokens, parts)
    yield from _initials(tokens, initials)


def _surest(text: str, first: Iterable[Candidate]) -> dict[tuple[str, str], float]:
    """Return each name that is sure enough, with the most that speaks for it."""
    names: dict[tuple[str, str], float] = {}
    for found in first:
        least = _SPELT if found.type == "ORGANIZATION" else _SURE
        if found.confidence >= least and found.type in _NAMED:
            key = text[found.start : found.end], found.type
            names[key] = max(names.get(key, 0.0), found.confidence)
    return names


def _parts(words: list[str], type_: str, confidence: float) -> Iterator[str]:
    """Yield the words that stand for the whole name when they stand alone."""
    if type_ == "ORGANIZATION":
        if len(words) > 2:
            yield "".join(word[0] for word in words if word[0].isupper())
        elif len(words) == 1:
            yield words[0]
    elif type_ == "LOCATION":
        if len(words) == 1:
            yield words[0]
    else:
        for word in words:
            if _telling(word, confidence):
                yield word


def _telling(word: str, confidence: float) -> bool:
    if len(word) < 3 or not word[0].isupper() or word in tables.TITLES:
        return False
    if word in tables.countries():
        return False
    return confidence > 0.8 or not is_common(word)


def _seen(tokens: Tokens, parts: dict[tuple[str, str], float]) -> Iterator[Candidate]:
    """Yield every place of a part, in capitals too."""
    for (part, type_), confidence in parts.items():
        shouted = (part.upper(),) if len(part) > _SHORT and not part.isupper() else ()
        for index in tokens.indices((part, *shouted)):
            if tokens.words[index][0].isupper() and len(tokens.words[index]) > 1:
                start, end = tokens.starts[index], tokens.ends[index]
                yield Candidate(start, end, type_, min(confidence, 0.85), "form")


def _initials(tokens: Tokens, initials: set[str]) -> Iterator[Candidate]:
    """Yield K.F., K. F. and KF for Kwabena Frimpong."""
    starts, ends, words = tokens.starts, tokens.ends, tokens.words
    bare = (name for name in initials if len(name) <= _SHORT and not is_common(name))
    for index in tokens.indices(bare):
        if not _among_capitals(words, index):
            yield Candidate(starts[index], ends[index], "PERSON", 0.6, "initials")
    for index in tokens.indices({name[0] for name in initials}):
        if (
            index + 1 < len(words)
            and words[index] + words[index + 1] in initials
            and tokens.gap(index + 1) in (".", ". ")
        ):
            end = ends[index + 1]
            end += tokens.text[end : end + 1] == "."
            yield Candidate(starts[index], end, "PERSON", 0.85, "initials")


def _among_capitals(words: list[str], index: int) -> bool:
    """Return True if a word next to a token is in capitals."""
    around = words[max(0, index - 1) : index] + words[index + 1 : index + 2]
    return any(len(word) > 1 and word.isupper() for word in around)


def later_forms(text: str, mentions: Iterable[Mention]) -> Iterator[Mention]:
    """
    Yield where a name from somewhere in a text is in a shorter form.

    Args:
        text: As the mentions point into it.
        mentions: In any order.
    """
    plain = plain_text(text)
    shown = text if plain.moves else plain.text
    first = (
        Candidate(m.span.start, m.span.end, m.type, m.confidence, m.reason)
        for m in mentions
    )
    for form in forms(tokenize(shown), first):
        span = Span(form.start, form.end)
        yield Mention(span, form.type, form.confidence, form.reason)
