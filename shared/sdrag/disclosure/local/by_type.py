"""
Mentions of the types a constraint asks for, and sentences with a cue of its subject.

Types that its words name, and structured identifiers, count wherever they are; the
types of a subject it speaks of count in sentences with a cue of that subject.

A constraint on disciplinary records withholds the sentence that has "written warning"
in it. Of words that every text is full of, the hints ("late", "panel"), two different
ones next to each other are needed. A sentence that carries on with a pronoun goes with
the one before it.

A bare number is nobody's sum or code for itself: it counts only where its form could be
one; spelled out, from twenty on, since smaller ones are also how prose counts. A name
that the detector takes for a place on weak grounds could be somebody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise

from sdrag.detectors.local import mentions as find_mentions
from sdrag.detectors.local.fields import type_of_field
from sdrag.detectors.local.number_kinds import NumberKind, NumberReading
from sdrag.detectors.local.tables import (
    FUNCTION_WORDS,
    is_common,
    listed,
    word_set,
)
from sdrag.disclosure.constraint_parser import ParsedConstraint, Topic
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.text.folding import Folded, fold
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.text.spans import shift
from sdrag.vocabulary import Confidential, Finding, Mention, Passage, Span

_NAMES = frozenset({"LOCATION", "ORGANIZATION", "PERSON", "USERNAME"})
_YEARS = 110
_UNSURE = 0.6
"""The confidence of a place that nothing but its surroundings makes one."""
_CODED = 3
_CHECKED = listed(
    "CREDENTIAL CREDIT_CARD EMAIL_ADDRESS IBAN_CODE IP_ADDRESS PHONE_NUMBER US_SSN"
)
_CODES = frozenset({"CODE", "CREDIT_CARD", "IBAN_CODE"})
"""Where one of these is, a short number may be a part of it."""
_NOT_IN_FILES = frozenset({"MONEY", "CODE", "DATE"})
"""The year in a file's name is a date, and neither a sum nor an account."""
_CHECKED_CODES = frozenset({"mac", "pattern", "scheme"})
_BIRTH_YEAR = re.compile(
    r"(?<!\d)(?:19\d\d|20(?:0\d|1[0-5]))(?!\d)|\b(?:nineteen|two thousand)\b",
    re.IGNORECASE,
)
"""Years in which somebody who is written about may have been born."""
_DAY = re.compile(
    r"\d{1,4}\W+(?:\d{1,2}|[A-Za-z]{3,})\W+\d|[A-Za-z]{3,}\W+\d{1,2}\W+\d|\d{8}|(?:st|nd|rd|th)\b"
)
_SORT_CODE = re.compile(r"\d{2}-\d{2}-\d{2}")
_NO_UNITS = FUNCTION_WORDS | {"towards"}
_SEPARATORS = re.compile(r"[/?=&#;]")
_BARE = re.compile(r"\d[\d.,]*")
_AMOUNT = re.compile(r"\d{1,3}(?:[,.' ]\d{3})+(?:[.,]\d{1,2})?|\d{2,}[.,]\d{2}")
_LONG_TYPES = frozenset({"AMOUNT", "LONG_NUMBER"})
_LONG = re.compile(r"(?!(?:19|20)\d\d$)\d{4,}")
_SPELLED = re.compile(
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty\b|\w[ -](?:hundred|thousand|million"
    r"|billion|trillion)",
    re.IGNORECASE,
)

_CARRIES_ON = re.compile(
    r"[\"'(\u201c\u2018]?(?:he|she|it|they|this|that|these|those|his|her|hers|its|their"
    r"|both|neither|none|one of them|such|the (?:former|latter|same))\b",
    re.IGNORECASE,
)
_NEAR = 50
"""Characters between two hints that tell a topic together."""
_REMEMBERED = 256


class CuedText(Confidential):
    """Which sentences of a text tell a topic."""

    def __init__(self, document: JoinedText) -> None:
        self.document = document
        self._spoken: dict[tuple[int, str], bool] = {}

    @cached_property
    def folded(self) -> Folded:
        """The text, folded."""
        return fold(self.document.text)

    @cached_property
    def leaning(self) -> list[bool]:
        """Whether each sentence carries on with a pronoun."""
        text, parts = self.document.text, self.document.sentences
        return [_CARRIES_ON.match(text, part.start) is not None for part in parts]

    def speaks_of(self, span: Span, kind: NumberKind) -> bool:
        """Say whether the sentence of a span, or what that carries on, names a kind."""
        document, index = self.document, self.document.sentence_at(span.start)
        if (index, kind.name) not in self._spoken:
            first = index - 1 if index and self.leaning[index] else index
            start, end = document.sentences[first].start, document.sentences[index].end
            said = kind.spoken.search(document.text, start, end) is not None
            self._spoken[index, kind.name] = said
        return self._spoken[index, kind.name]

    def find_telling(self, topic: Topic) -> list[int]:
        """Return the indices of the sentences that tell a topic."""
        if not topic.cues:
            return []
        cues, hints = _matchers(topic)
        numbers = self._indices(cues.find(self.folded))
        for first, second in pairwise(sorted(hints.find(self.folded))):
            differ = self._of(first) != self._of(second)
            if second.start - first.end <= _NEAR and differ:
                numbers |= self._indices([first]) & self._indices([second])
        return self._with_neighbours(numbers)

    def find_beside(self, topic: Topic) -> frozenset[int]:
        """Return the indices of the sentences in which its types count."""
        cues, hints = _matchers(topic)
        spans = (*cues.find(self.folded), *hints.find(self.folded))
        return frozenset(self._with_neighbours(self._indices(spans)))

    def _of(self, span: Span) -> str:
        return span.of(self.document.text).lower()

    def _indices(self, spans: Iterable[Span]) -> set[int]:
        return {index for span in spans for index in self.document.indices(span)}

    def _with_neighbours(self, numbers: set[int]) -> list[int]:
        """Add what carries on, and what a sentence that carries on leans on."""
        leaning = self.leaning
        after = {i + 1 for i in numbers if leaning[i + 1 : i + 2] == [True]}
        before = {i - 1 for i in numbers if i and leaning[i]}
        return sorted(numbers | after | before)


@lru_cache(maxsize=_REMEMBERED)
def _matchers(topic: Topic) -> tuple[PhraseMatcher, PhraseMatcher]:
    return PhraseMatcher(topic.cues), PhraseMatcher(topic.hints)


@lru_cache(maxsize=_REMEMBERED)
def _matcher(forms: frozenset[str]) -> PhraseMatcher:
    return PhraseMatcher(forms)


def find_by_type(
    document: JoinedText,
    mentions: Sequence[Mention],
    parsed_rules: Sequence[ParsedConstraint],
    off: Sequence[str] = (),
) -> Iterator[Finding]:
    """
    Yield a finding for every mention that a constraint asks for by its type.

    `off`: recognisers that do not run.
    """
    cued = CuedText(document)
    coded = {
        index
        for mention in mentions
        if mention.type in _CODES
        for index in document.indices(mention.span)
    }
    mentions = [*mentions, *_find_in_links(document.text, mentions, off)]
    clauses = {m.span for m in mentions if m.type == "DATE" and _in_clause(cued, m)}
    numbers = NumberReading(document.text, mentions)
    for parsed in parsed_rules:
        beside = [
            (t.types, cued.find_beside(t) | (coded if _CODES & t.types else set()))
            for t in parsed.topics
            if t.types
        ]
        for mention in mentions if parsed.types else ():
            value = mention.span.of(document.text)
            if _is_place_of_firms(document.text, mention, parsed.types):
                continue
            everywhere = parsed.everywhere
            if mention.span in clauses:
                everywhere -= {"BIRTH_DATE"}
            if (
                is_of(mention, value, everywhere)
                or any(
                    is_of(mention, value, types)
                    and not places.isdisjoint(document.indices(mention.span))
                    for types, places in beside
                )
                or (
                    parsed.kinds
                    and numbers.is_of_kind(mention, parsed.kinds, cued.speaks_of)
                )
            ):
                yield Finding(
                    mention.span,
                    parsed.constraint.id,
                    "checked" if _is_checked(mention) else "type",
                    mention.confidence,
                    mention.type,
                )


def _in_clause(cued: CuedText, date: Mention) -> bool:
    """
    Return True for a date that its label or its clause gives to something else.

    Beside a name, in brackets, between commas and alone in its line or cell it may be
    somebody's birth; so it may where its sentence speaks of one, which cues tell.
    """
    text, (start, end) = cued.document.text, (date.span.start, date.span.end)
    line = text[max(text.rfind("\n", 0, start) + 1, start - _LINE_BEFORE) : start]
    after = _LINE_REST.match(text, end)
    rest = after.group() if after else ""
    label = _LABELLED.search(line)
    if label is not None:
        return _OF_BIRTH.search(label[1]) is None and not _has_name(label[1])
    before = line.rstrip(" \t\"'*_>`")
    last = before.rpartition(" ")[2]
    opens = not before.strip(" \t-*#\u2022|.0123456789)")
    if opens or (len(last) == 2 and last[1] == "."):  # A. March 8, 1955
        return _WORD.search(rest) is not None and not _has_name(rest)
    if _IT_IS.search(before):
        return False
    if last[-1:].isalnum():
        return not (last[:1].isupper() or last.lower() in _ROLES)
    return _CLOCK.match(rest) is not None


_LABELLED = re.compile(r"(?:^|[,;|(\t{\"]) *([^,;|(\t:=\"]{1,48}?)\"? *[:=] *[\"']?$")
_LINE_BEFORE = 200
_LINE_REST = re.compile(r"[^\n]{0,200}")
_WORD = re.compile(r"[^\W\d_]{2}")
_IT_IS = re.compile(
    r"\b(?:it|that|this|mine|hers|his|he|she)(?:'s|\u2019s| is| was)$", re.IGNORECASE
)
_CLOCK = re.compile(r"[T ,]+\d\d?:\d\d")
_OF_BIRTH = re.compile(
    r"born|birth|bday|\bd[. ]?o[. ]?b\b|\bgeb|\bn\u00e9e?\b"
    r"|\b(?:naiss|nacim|nascit|nascim|urodz)",
    re.IGNORECASE,
)
_ROLES = word_set("roles")


def _has_name(words: str) -> bool:
    """Return True if words hold a name of the lists, or one without a meaning."""
    return any(
        word[0].isupper() and not is_common(word)
        for word in re.findall(r"[^\W\d_]{2,}", words)
    )


def _is_place_of_firms(text: str, mention: Mention, types: frozenset[str]) -> bool:
    """Return True for what a label calls a town, where firms are asked for."""
    if mention.type not in _FIRMS or not types >= _FIRMS or "ADDRESS" in types:
        return False
    return type_of_field(text, mention.span.start) == "LOCATION"


_FIRMS = frozenset({"LOCATION", "ORGANIZATION"})
"""A detector may take one for the other."""


def find_by_cue(
    text: str, parsed_rules: Sequence[ParsedConstraint]
) -> Iterator[Finding]:
    """Yield every sentence of a passage that tells a topic of a constraint."""
    if not any(parsed.topics for parsed in parsed_rules):
        return
    document = JoinedText.of([Passage("", text)])
    cued = CuedText(document)
    for parsed in parsed_rules:
        found = {index for topic in parsed.topics for index in cued.find_telling(topic)}
        for index in sorted(found):
            yield Finding(document.sentences[index], parsed.constraint.id, "cue")


def find_sure(text: str, parsed_rules: Sequence[ParsedConstraint]) -> Iterator[Finding]:
    """Yield the phrases that tell a topic of a constraint in any text."""
    for parsed in parsed_rules:
        forms = frozenset().union(*(topic.sure for topic in parsed.topics))
        for span in _matcher(forms).find(fold(text)) if forms else ():
            yield Finding(span, parsed.constraint.id, "cue")


def _find_in_links(
    text: str, known: Sequence[Mention], off: Sequence[str]
) -> Iterator[Mention]:
    """Yield identifiers that are parts of a link, such as `?to=ann@example.org`."""
    for link in known:
        if link.type == "URL":
            parts = _SEPARATORS.sub(" ", link.span.of(text))
            for mention in find_mentions(parts, off):
                if _is_checked(mention):
                    yield replace(mention, span=shift(mention.span, link.span.start))


def _is_checked(mention: Mention) -> bool:
    """Return True if the form alone tells what it is."""
    if mention.type == "CODE":
        return mention.reason in _CHECKED_CODES
    return mention.type in _CHECKED


def find_types(
    text: str, mentions: Sequence[Mention], asked: Sequence[ParsedConstraint]
) -> Iterator[Finding]:
    """Yield the mentions of every type a constraint asks for, whatever is near them."""
    for parsed in asked:
        types = parsed.types | (_NAMES if parsed.names else frozenset())
        for mention in mentions:
            if is_of(mention, mention.span.of(text), types):
                yield Finding(
                    mention.span, parsed.constraint.id, "type", type=mention.type
                )


def is_of(mention: Mention, value: str, types: frozenset[str]) -> bool:
    """Return True if a mention is of one of the types, or could be."""
    if mention.type == "NUMBER":
        in_file = mention.reason == "file" and not types.isdisjoint(_NOT_IN_FILES)
        return "DATE" in types if in_file else _counts(value, types)
    grouped = mention.type == "PHONE_NUMBER" and value[0] not in "+(0"
    if mention.type in types or (grouped and "LONG_NUMBER" in types):
        return True  # figures in groups may be any code
    if mention.type == "DATE":
        full = _BIRTH_YEAR.search(value) is not None and _DAY.search(value) is not None
        return ("BIRTH_DATE" in types and full) or (
            "IBAN_CODE" in types and _SORT_CODE.fullmatch(value) is not None
        )
    if mention.type == "LOCATION":
        return "PERSON" in types and mention.confidence <= _UNSURE
    if mention.type != "QUANTITY":
        return False
    # A quantity without a unit may be a sum or a code as well.
    number, _, unit = value.partition(" ")
    bare = _BARE.fullmatch(number) is not None
    return (
        bare and (not unit or unit.split()[0] in _NO_UNITS) and _counts(number, types)
    )


def _counts(number: str, types: frozenset[str]) -> bool:
    """Return True if a bare number may be of one of the types."""
    if "YEARS" in types and _may_be_years(number):
        return True
    if "AMOUNT" in types and (_AMOUNT.fullmatch(number) or _SPELLED.search(number)):
        return True
    if not types.isdisjoint(_LONG_TYPES) and _LONG.fullmatch(number):
        return True
    if "NUMBER" not in types or ":" in number:  # the time of day
        return False
    if _SPELLED.search(number):
        return "MONEY" in types or "CODE" not in types
    least = _CODED if {"MONEY", "CODE"} & types else 1
    return number[0].isdigit() and len(number) >= least


def _may_be_years(number: str) -> bool:
    """Return True if a number could be somebody's age."""
    if number.isdecimal():
        return 0 < int(number) <= _YEARS
    return number.isalpha() and number not in {"hundred", "thousand", "million"}
