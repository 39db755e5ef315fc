"""
Wherever a name stands that a constraint consists of.

In full, in any order and case, as a surname alone, with a genitive, and inside what is
no word: an e-mail address, a handle, an id, a hashtag. A part of a name that is an
everyday word too (May, White) counts with a capital, or in a sentence that has none. A
constraint that asks for everything about somebody withholds the sentences in which the
name stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sdrag.detectors.local.casing import has_no_capitals
from sdrag.detectors.local.lexicon import ORGANISATION_HEADS, ORGANISATION_SUFFIXES
from sdrag.detectors.local.tables import common_words, first_names, surnames
from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.disclosure.constraint_parser.names import telling_words
from sdrag.disclosure.forms import name_forms, spellings
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.folding import fold, fold_text
from sdrag.needles import Needles, needs_case
from sdrag.vocabulary import Finding, Mention, Span

__all__ = ["named"]

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\S+")
_EDGES = " .,;:!?()[]{}<>\"'\u2018\u2019\u201c\u201d"
_SEPARATORS = re.compile(r"[\W_]+")
_PARTS = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NO_WORD = re.compile(r"[\d@_#=/\\+%]|[a-z][A-Z]|\w[.-]\w")
_CODED = re.compile(r"[\d@_#=/\\+%]|[a-z][A-Z]")
_DENSE = 4
"""A shorter part of a name stands inside other words by accident."""


def named(
    document: JoinedText,
    mentions: Sequence[Mention],
    asked: Sequence[ParsedConstraint],
) -> Iterator[Finding]:
    """Yield a finding wherever a name stands that a constraint consists of."""
    for parsed in asked:
        spans: set[Span] = set()
        for name in parsed.names:
            spans.update(_whole(name, document.text))
            spans.update(_parts(name, document))
            spans.update(_inside(name, document.text))
            spans.update(_borne(name, document.text, mentions))
        if parsed.about_names:
            spans |= {document.sentence_at(span.start) for span in spans}
        for span in sorted(spans):
            yield Finding(span, parsed.constraint.id, "named")


def _whole(name: str, text: str) -> Iterator[Span]:
    """Yield where a name stands whole, in any order, spelling and case."""
    known = {name, *name_forms(name)}
    forms = {spelt for form in known for spelt in spellings(form)}
    single = {form for form in forms if len(_WORD.findall(form)) < 2}
    yield from Needles((forms - single) | {name}).find(fold(text))


def _parts(name: str, document: JoinedText) -> Iterator[Span]:
    """Yield where a telling word of a name stands alone."""
    text = document.text
    words = {spelt for word in _telling(name) for spelt in spellings(word)}
    short = {word for word in words if needs_case(word)}
    everyday = {fold_text(word) for word in words if _is_everyday(word)}
    rare = words - short - {word for word in words if _is_everyday(word)}
    yield from Needles(form for word in rare for form in (word, f"{word}s")).find(
        fold(text)
    )
    cased = {form for word in short - everyday for form in (word, word.upper())}
    for match in _WORD.finditer(text) if cased or everyday else ():
        said = match.group().removesuffix("_")
        if said in cased or (
            fold_text(said) in everyday and _as_a_name(Span(*match.span()), document)
        ):
            yield Span(*match.span())


def _as_a_name(word: Span, document: JoinedText) -> bool:
    """Say whether an everyday word may be meant as a name where it stands."""
    sentence = document.sentence_at(word.start)
    said = word.of(document.text)
    if said[0].isupper():
        name = said.capitalize()
        listed = name in surnames() or name in first_names()
        return listed or word.start > sentence.start
    return has_no_capitals(sentence.of(document.text))


def _inside(name: str, text: str) -> Iterator[Span]:
    """Yield what is no word and holds a name: addresses, handles, ids, hashtags."""
    telling = {fold_text(s) for word in _telling(name) for s in spellings(word)}
    whole = {_SEPARATORS.sub("", fold_text(spelt)) for spelt in spellings(name)}
    for match in _TOKEN.finditer(text):
        token = match.group()
        if _NO_WORD.search(token) and _holds(token, telling, whole):
            start = match.start() + len(token) - len(token.lstrip(_EDGES))
            end = match.end() - len(token) + len(token.rstrip(_EDGES))
            if start < end:
                yield Span(start, end)


def _holds(token: str, telling: set[str], whole: set[str]) -> bool:
    """Say whether a token holds a word of a name, apart or run together."""
    apart = {fold_text(part) for part in _PARTS.findall(_HUMP.sub(" ", token))}
    if _CODED.search(token) is None:
        return not apart.isdisjoint(telling - common_words().keys())
    dense = _SEPARATORS.sub("", fold_text(token))
    return (
        not apart.isdisjoint(telling)
        or any(form in dense for form in whole if len(form) >= _DENSE)
        or any(word in dense for word in telling if len(word) >= _DENSE)
    )


def _borne(name: str, text: str, mentions: Sequence[Mention]) -> Iterator[Span]:
    """Yield the mentions that bear a telling word of a name: a surname, an address."""
    telling = {word.lower() for word in _telling(name) if not needs_case(word)}
    for mention in mentions:
        words = _WORD.findall(mention.span.of(text).lower())
        if not telling.isdisjoint(words):
            yield mention.span


def _telling(name: str) -> list[str]:
    """Return the words by which a name is known without the others."""
    kinds = ORGANISATION_SUFFIXES | ORGANISATION_HEADS
    words = [word for word in telling_words(name) if len(word) > 1]
    return [word for word in words if word not in kinds]


def _is_everyday(word: str) -> bool:
    return word.lower() in common_words() and not (len(word) > 1 and word.isupper())
