"""
The names that a constraint consists of, wherever they are.

In full, in any order and case, as a surname alone, with a genitive, and inside what is
no word: an e-mail address, a handle, an id, a hashtag. A part of a name that is an
everyday word too (May, White) counts with a capital, or in a sentence that has none. A
constraint that asks for everything about somebody withholds the sentences in which the
name is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sdrag.detectors.local.plain_text import has_no_capitals
from sdrag.detectors.local.tables import (
    ORGANISATION_HEADS,
    ORGANISATION_SUFFIXES,
    common_words,
    first_names,
    surnames,
)
from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.disclosure.constraint_parser.names import telling_words
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.text.folding import Folded, fold_text
from sdrag.text.names import name_forms, plurals, spellings
from sdrag.text.phrase_matcher import PhraseMatcher, needs_case
from sdrag.text.readings import readings
from sdrag.vocabulary import Finding, Mention, Span

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\S+")
_EDGES = " .,;:!?()[]{}<>\"'\u2018\u2019\u201c\u201d"
_SEPARATORS = re.compile(r"[\W_]+")
_PARTS = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CODED = re.compile(r"[\d@_#=/\\+%]|[a-z][A-Z]")
_JOINED = re.compile(r"\w[.-]\w")
_DENSE = 4
"""A shorter part of a name is inside other words by accident."""


def find_by_name(
    document: JoinedText,
    mentions: Sequence[Mention],
    parsed_rules: Sequence[ParsedConstraint],
) -> Iterator[Finding]:
    """Yield a finding for each name that a constraint consists of."""
    if not any(parsed.names for parsed in parsed_rules):
        return
    folded, *others = readings(document.text)
    for parsed in parsed_rules:
        spans: set[Span] = set()
        for name in parsed.names:
            for reading in (folded, *others):
                spans.update(_find_full(name, reading))
            spans.update(_find_parts(name, document, folded))
            spans.update(_find_in_tokens(name, document.text))
            spans.update(_find_in_mentions(name, document.text, mentions))
        if parsed.about_names:
            numbers = {document.sentence_at(span.start) for span in spans}
            spans |= {document.sentences[number] for number in numbers}
        for span in sorted(spans):
            yield Finding(span, parsed.constraint.id, "named")


def _find_full(name: str, folded: Folded) -> Iterator[Span]:
    """Yield where a whole name is, in any order, spelling and case."""
    known = {name, *name_forms(name, common_words())}
    forms = {spelt for form in known for spelt in spellings(form)}
    single = {form for form in forms if len(_WORD.findall(form)) < 2}
    yield from PhraseMatcher((forms - single) | {name, *plurals(name)}).find(folded)


def _find_parts(name: str, document: JoinedText, folded: Folded) -> Iterator[Span]:
    """Yield where a telling word of a name is by itself."""
    text = document.text
    words = {spelt for word in _telling_words(name) for spelt in spellings(word)}
    short = {word for word in words if needs_case(word)}
    everyday = {fold_text(word) for word in words if _is_everyday(word)}
    rare = words - short - {word for word in words if _is_everyday(word)}
    yield from PhraseMatcher(
        form for word in rare for form in (word, f"{word}s", *plurals(word))
    ).find(folded)
    cased = {form for word in short - everyday for form in (word, word.upper())}
    uncapitalised: dict[Span, bool] = {}
    for match in _WORD.finditer(text) if cased or everyday else ():
        word = match.group().removesuffix("_")
        if word in cased:
            yield Span(*match.span())
        elif fold_text(word) in everyday:
            sentence = document.sentences[document.sentence_at(match.start())]
            if sentence not in uncapitalised:  # it may be long, and full of the word
                uncapitalised[sentence] = has_no_capitals(sentence.of(text))
            begins = match.start() <= sentence.start
            if uncapitalised[sentence] or _as_a_name(match.group(), begins=begins):
                yield Span(*match.span())


def _as_a_name(word: str, *, begins: bool) -> bool:
    """Return True if an everyday word, which may begin a sentence, may be a name."""
    name = word.capitalize()
    return word[0].isupper() and (
        not begins or name in surnames() or name in first_names()
    )


def _find_in_tokens(name: str, text: str) -> Iterator[Span]:
    """Yield what is no word and holds a name: addresses, handles, ids, hashtags."""
    telling = {fold_text(s) for word in _telling_words(name) for s in spellings(word)}
    rare = telling.difference(filter(common_words().__contains__, telling))
    whole = {_SEPARATORS.sub("", fold_text(spelt)) for spelt in spellings(name)}
    dense = {form for form in whole | telling if len(form) >= _DENSE}
    for match in _TOKEN.finditer(text):
        token = match.group()
        if (
            _holds(token, telling, dense)
            if _CODED.search(token)
            else _JOINED.search(token) and _has(token, rare)
        ):
            start = match.start() + len(token) - len(token.lstrip(_EDGES))
            end = match.end() - len(token) + len(token.rstrip(_EDGES))
            if start < end:
                yield Span(start, end)


def _holds(token: str, telling: set[str], dense: set[str]) -> bool:
    """Return True if a token holds a word of a name, apart or run together."""
    run = _SEPARATORS.sub("", fold_text(token))
    return _has(token, telling) or any(form in run for form in dense)


def _has(token: str, words: set[str]) -> bool:
    """Return True if one of the parts of a token is one of the words."""
    parts = _PARTS.findall(_HUMP.sub(" ", token))
    return any(fold_text(part) in words for part in parts)


def _find_in_mentions(
    name: str, text: str, mentions: Sequence[Mention]
) -> Iterator[Span]:
    """Yield the mentions that bear a telling word of a name: a surname, an address."""
    telling = {word.lower() for word in _telling_words(name) if not needs_case(word)}
    for mention in mentions:
        words = _WORD.findall(mention.span.of(text).lower())
        if not telling.isdisjoint(words):
            yield mention.span


def _telling_words(name: str) -> list[str]:
    """
    Return the words by which a name is known without the others.

    Of a phrase ("in hospital"), an everyday word without a capital is none.
    """
    kinds = ORGANISATION_SUFFIXES | ORGANISATION_HEADS
    words = [word for word in telling_words(name) if len(word) > 1]
    return [
        word
        for word in words
        if word not in kinds and not (word.islower() and word in common_words())
    ]


def _is_everyday(word: str) -> bool:
    return word.lower() in common_words() and not (len(word) > 1 and word.isupper())
