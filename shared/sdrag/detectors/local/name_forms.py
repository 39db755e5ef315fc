"""
Surnames behind what somebody is, and the later forms of names.

A name seen once in full is found in every shorter form: a surname or given name,
initials ("K.F."), the acronym of an organisation, at the starts of sentences and in
capitals too. A word that is a person in one sentence and a firm in another is a form of
both: no sentence takes a type from another. Initials are short, so they count in their
own case alone, and without points only where the words around are not in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sdrag.detectors.local import tables
from sdrag.detectors.local.plain_text import plain_text
from sdrag.detectors.local.tables import (
    OFFICES,
    TITLES,
    in_each_case,
    is_common,
    word_set,
)
from sdrag.detectors.local.terms import is_headed
from sdrag.detectors.local.tokens import Candidate, TokenIndex, tokenize
from sdrag.vocabulary import Mention, Span

_ROLES = in_each_case(word_set("roles"))
_COMPOUNDS = tables.FUNCTION_WORDS | word_set("role_compounds")
_NAMED_AFTER = re.compile(r"'s\b|[.,;:!?)]|\s*$| (?![A-Z])[a-z]")


def find_role_names(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield surnames behind what somebody is, everyday words too: Patient Baker."""
    surnames = tables.surnames()
    for index in tokens.indices(_ROLES):
        after = index + 1
        if after >= len(tokens.words) or tokens.gap(after) != " ":
            continue
        word, end = tokens.words[after], tokens.ends[after]
        named = word in surnames and word.lower() not in _COMPOUNDS
        named = named and not is_headed(tokens.words[after : after + 2])
        if named and _NAMED_AFTER.match(tokens.text, end):
            yield Candidate(tokens.starts[after], end, "PERSON", 0.7, "role")


_SURE = 0.6
_SPELT = 0.5
_SHORT = 3
_CALLED_BY = TITLES | OFFICES
_NAMED = frozenset(("PERSON", "ORGANIZATION", "LOCATION"))


def find_forms(tokens: TokenIndex, first: Iterable[Candidate]) -> Iterator[Candidate]:
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
    for (part, type_), confidence in parts.items():
        shouted = (part.upper(),) if len(part) > _SHORT and not part.isupper() else ()
        for index in tokens.indices((part, *shouted)):
            start, end = tokens.starts[index], tokens.ends[index]
            written = tokens.words[index][0].isupper() and end - start > 1
            if written and not is_encoded(tokens.text, start):
                yield Candidate(start, end, type_, min(confidence, 0.85), "form")
    yield from _find_initials(tokens, initials)


def is_encoded(text: str, position: int) -> bool:
    """Return True inside letters and figures that are too many for a word."""
    before = _ENDING.search(text, max(0, position - _LONGEST_WORD), position)
    after = _BEGINNING.match(text, position)
    around = (before.group() if before else "") + (after.group() if after else "")
    return len(around) > _LONGEST_WORD


_LONGEST_WORD = 30
_ENDING, _BEGINNING = re.compile(r"[^\W_]+\Z"), re.compile(r"[^\W_]{0,31}")


def _surest(text: str, first: Iterable[Candidate]) -> dict[tuple[str, str], float]:
    """Return each name that is sure enough, with the most that speaks for it."""
    names: dict[tuple[str, str], float] = {}
    for candidate in first:
        least = _SPELT if candidate.type == "ORGANIZATION" else _SURE
        if candidate.confidence >= least and candidate.type in _NAMED:
            key = text[candidate.start : candidate.end], candidate.type
            names[key] = max(names.get(key, 0.0), candidate.confidence)
    return names


def _parts(words: list[str], type_: str, confidence: float) -> Iterator[str]:
    """Yield the words that stand for the whole name when they stand alone."""
    if type_ == "ORGANIZATION" and len(words) > 2:
        yield "".join(word[0] for word in words if word[0].isupper())
    elif type_ != "PERSON":
        yield from words if len(words) == 1 else ()
    else:
        for word in words:
            named = len(word) >= _SHORT and word[0].isupper() and word not in _CALLED_BY
            telling = confidence > 0.8 or not is_common(word)
            if named and telling and word not in tables.countries():
                yield word


def _find_initials(tokens: TokenIndex, initials: set[str]) -> Iterator[Candidate]:
    """Yield K.F., K. F. and KF for Kwabena Frimpong."""
    starts, ends, words = tokens.starts, tokens.ends, tokens.words
    bare = {name for name in initials if len(name) <= _SHORT and not is_common(name)}
    for index in tokens.indices(bare):
        around = words[max(0, index - 1) : index] + words[index + 1 : index + 2]
        if not any(len(word) > 1 and word.isupper() for word in around):
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


def later_forms(text: str, mentions: Iterable[Mention]) -> Iterator[Mention]:
    """Yield where a name from somewhere in a text is in a shorter form."""
    plain = plain_text(text)
    shown = plain.text if len(plain.text) == len(text) else text
    first = (
        Candidate(m.span.start, m.span.end, m.type, m.confidence, m.reason)
        for m in mentions
    )
    for form in find_forms(tokenize(shown), first):
        span = Span(form.start, form.end)
        yield Mention(span, form.type, form.confidence, form.reason)
