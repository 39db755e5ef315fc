"""
What an answer says of a type that a constraint asks for, and its context does not hold.

Whoever puts twenty names into a question learns which of them is hidden if the answer
loses only that one. So a released context decides what an answer may say, and what is
known of the documents decides nothing: a mention that the context does not hold goes,
whether it is right or a guess. Four rules find mentions: the detector, for types and
for what a constraint names; the shapes that a register knows a type by and a detector
may not; for constraints that ask for names or meaning, words that are in no list of
ordinary words; and words in capitals, or from the question, that could be names.
Ordinary words stay, and whatever the context holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from sdrag.detectors.language import find_language
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.local.tables import (
    common_words,
    countries,
    first_names,
    listed,
    peoples,
    surnames,
)
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.local.by_name import find_by_name
from sdrag.disclosure.local.by_type import find_by_type
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.effects.steps import Steps, replied
from sdrag.placeholders import Placeholders
from sdrag.policy import Policy, binds
from sdrag.state.register import WORD
from sdrag.text.dates import MONTHS, WEEKDAYS
from sdrag.text.folding import fold, fold_text
from sdrag.text.readings import readings
from sdrag.vocabulary import (
    EVIDENCE_KEY,
    Confidential,
    Mention,
    Passage,
    Principal,
    Span,
)

_FORMS = listed(
    """
    AGE CODE COORDINATES CREDENTIAL CREDIT_CARD DATE DOMAIN_NAME DOSE DURATION
    EMAIL_ADDRESS IBAN_CODE IP_ADDRESS MONEY NUMBER PHONE_NUMBER QUANTITY TIME URL
    US_SSN YEARS ZIP_CODE
    """
)
"""Types that are known by their form; of the others no list has all words."""
_PROPER = frozenset({"LOCATION", "ORGANIZATION", "PERSON", "USERNAME"})
_ENDINGS = re.compile(r"(?:'s|s|es|ed|d|ing|ly|er|ers|est|ness|ment|ments|able|ally)\Z")
_BEGINNINGS = re.compile(r"(?:un|re|non|mis|over|under|pre|out|co|sub|inter|anti)")
_MEASURED = re.compile(
    r"\W?\d[\d.,:]*[a-z]{0,4}|[a-z]{1,3}-?\d+|[a-z]{1,8}-?\d{2,}|[$@#+!]\w*|\w+[$@#+!]",
    re.IGNORECASE,
)
"""Such as `20mg`, `covid19` and `$20`, which digits read as letters make words of."""
_SHAPES = (
    (
        frozenset({"PERSON"}),
        re.compile(
            r"(?<![\w.])(?!(?:u\.s|u\.k|e\.g|i\.e|a\.m|p\.m)\b)"
            r"[^\W\d_]\.(?:[^\W\d_](?!\w)\.?| [^\W\d_]\.)"
        ),
    ),
    (
        frozenset({"DATE"}),
        re.compile(
            r"(?<!\w)(?:\d{6}|\d{8}|\d{1,4}([/. -])(?:\d\d?|[ivx]{1,4})\1\d{1,4})(?!\w)"
        ),
    ),
    (
        frozenset({"MONEY"}),
        re.compile(r"(?<!\w)\d{1,3}(?:(?:[ .,'\u2019]\d{3})+|[\d.,]{0,9} ?[km])(?!\w)"),
    ),
    (
        listed("CODE CREDENTIAL CREDIT_CARD IBAN_CODE NUMBER PHONE_NUMBER US_SSN"),
        re.compile(
            r"(?<!\w)(?:\d{5,}|(?=(?:\W{0,3}\d){4})\d+(?:[ ._/-]{1,3}\d+){1,30}"
            r"|\w(?:[ ._*-]{1,3}\w(?!\w)){3,30})(?!\w)"
        ),
    ),
)
"""In what shapes, folded, a register knows a type that no detector finds alone."""
_SPACED = re.compile(r"(?<!\w)[^\W\d_](?:[ ._*-]{1,3}[^\W\d_](?!\w)){2,}")
_MIXED = re.compile(r"[a-z]\d+[a-z]")
_CAPITAL = re.compile(r"(?<=[\w,;] )([A-Z][\w'-]*)")
_SENTENCE_END = re.compile(r"[.!?:]\s|\n|[\"\u201c(*#]")
_DATED = re.compile(
    r"(?:\d|\b(?:in|on|of|by|since|until|from|to|last|next))\W*\Z", re.IGNORECASE
)
_UNITS = listed(
    """
    km kmh mph kg mg ml mm cm ms hz khz mhz ghz kw kwh mw gb mb kb tb eur usd gbp chf
    pdf url html http https www api faq covid ok etc eg ie
    st nd rd th
    """
)
_CONTRACTION = re.compile(
    r"\b(?:are|could|did|do|does|had|has|have|is|might|must|need|should|was|were|would)"
    r"n['\u2019]t\b",
    re.IGNORECASE,
)
_FUNCTION, _TELLING, _RARE = 100, 500, 4_000
"""From these ranks on, a word tells something, and means the same everywhere."""
_LEAST = 3
_AROUND = 200
"""Characters around a word that tell whether a sentence begins with it."""


def find_guesses(
    answer: str,
    question: str,
    context: Sequence[Passage],
    policy: Policy,
    principal: Principal | None,
    placeholders: Placeholders,
) -> Steps[tuple[Span, ...]]:
    """
    Return where an answer says what its context does not hold and a constraint hides.

    Args:
        answer: What the model said.
        question: What was asked.
        context: As it was released.
        policy: Whose constraints count, whatever their `where`: a context may lack the
            metadata.
        principal: Who is answered; every constraint binds nobody.
        placeholders: What may stand in the context in place of a hidden value.
    """
    asked = [parse(rule) for rule in policy.rules if binds(rule, principal)]
    if not asked:
        return ()
    answer = placeholders.blank(answer)
    answer = _CONTRACTION.sub(lambda match: " " * len(match.group()), answer)
    (outcome,) = yield from LocalDetector().detect([answer])
    mentions = replied(outcome)
    known = _Context.of(context)
    return tuple(_guesses(answer, question, known, mentions, asked))


def _guesses(
    answer: str,
    question: str,
    known: _Context,
    mentions: Sequence[Mention],
    asked: Sequence[ParsedConstraint],
) -> Iterator[Span]:
    document = JoinedText.of([Passage("answer", answer)])
    findings = [
        *find_by_type(answer, mentions, asked),
        *find_by_name(document, mentions, asked),
    ]
    spans = {finding.span for finding in findings}
    if any(parsed.names for parsed in asked):
        spans |= {mention.span for mention in mentions if mention.type in _PROPER}
    yield from (span for span in spans if not known.holds(span.of(answer)))
    yield from _shaped(answer, known, {kind for rule in asked for kind in rule.types})
    if any(p.names or p.meaning or p.types - _FORMS for p in asked):
        proper = any(parsed.names or parsed.types & _PROPER for parsed in asked)
        language = find_language(answer)
        if language == "en" or language != find_language(known.text):
            yield from _words(answer, question, known, proper=proper)
        else:
            yield from _named_words(answer, known)


def _shaped(answer: str, known: _Context, types: AbstractSet[str]) -> Iterator[Span]:
    """Yield what has the shape of a type that is asked for and was not released."""
    patterns = [pattern for kinds, pattern in _SHAPES if not kinds.isdisjoint(types)]
    for reading in readings(answer) if patterns else ():
        for pattern in patterns:
            for match in pattern.finditer(reading.text):
                if match.group() not in known.folded:
                    yield reading.span(*match.span())


@dataclass(frozen=True, slots=True, repr=False)
class _Context(Confidential):
    """The words that were released, in their order."""

    text: str
    folded: str
    words: tuple[str, ...]
    places: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> _Context:
        texts = [passage.text for passage in passages]
        for passage in passages:
            texts += [
                item
                for key, value in passage.metadata.items()
                if key != EVIDENCE_KEY
                for item in (value if isinstance(value, (list, tuple)) else (value,))
                if isinstance(item, str)
            ]
        words = tuple(_folded_words("\n".join(texts)))
        places: dict[str, list[int]] = {}
        for at, word in enumerate(words):
            places.setdefault(_stem(word), []).append(at)
        text = "\n".join(texts)
        return cls(text, fold_text(text), words, places)

    def has(self, word: str) -> bool:
        """Say whether a folded word, or another form of it, was released."""
        return _stem(word) in self.places

    def holds(self, mention: str) -> bool:
        """Say whether a mention was released: its words, next to each other."""
        words = [word for word in _folded_words(mention) if _rank(word) >= _FUNCTION]
        if not words or not all(map(self.has, words)):
            return False
        telling = {_stem(word) for word in words if not _is_ordinary(word)}
        if len(telling) <= 1:
            return True
        width = len(telling)
        rarest = min(telling, key=lambda word: len(self.places[word]))
        around = (
            self.words[max(0, at - width) : at + width + 1]
            for at in self.places[rarest]
        )
        return any(telling <= {*map(_stem, words)} for words in around)


def _words(
    answer: str, question: str, known: _Context, *, proper: bool
) -> Iterator[Span]:
    """Yield the words of an answer that the context lacks and no dictionary has."""
    for match in _SPACED.finditer(answer):
        if not all(map(known.has, _folded_words(match.group()))):
            yield Span(*match.span())
    asked = _Question.of(question, known, proper=proper)
    for number, reading in enumerate(readings(answer)):
        last = None
        for match in WORD.finditer(reading.text):
            word = match.group()
            span = reading.span(*match.span())
            if last and (last.group(), word) in asked.pairs:
                yield reading.span(last.start(), match.end())
            last = match
            if known.has(word):
                continue
            surface = span.of(answer)
            if number and fold_text(surface) != word:  # encoded, or disguised
                guess = not _MEASURED.fullmatch(surface) or _is_listed_name(word)
            elif proper and surface != surface.lower() and _is_ordinary(word):
                guess = word in asked.capitals or _could_be_name(answer, span, word)
            else:
                guess = word in asked.rare or not _is_ordinary(word)
            if guess:
                yield span


@dataclass(frozen=True, slots=True, repr=False)
class _Question(Confidential):
    """Ordinary words of a question that may be names, and rare ones, all folded."""

    capitals: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    rare: frozenset[str]

    @classmethod
    def of(cls, question: str, known: _Context, *, proper: bool) -> _Question:
        words = list(_folded_words(question))
        written = {fold_text(match[1]) for match in _CAPITAL.finditer(question)}
        named_pairs = [two for two in pairwise(words) if all(map(_is_listed_name, two))]
        return cls(
            frozenset(
                word
                for word in words
                if word in written
                or (_is_listed_name(word) and _rank(word) >= _TELLING)
            ),
            frozenset(named_pairs if proper else ()) - {*pairwise(known.words)},
            frozenset(
                word
                for word in words
                if _rank(word) >= _RARE and (_is_listed_name(word) or not proper)
            ),
        )


def _named_words(answer: str, known: _Context) -> Iterator[Span]:
    """Yield the words of an answer in another language that lists of names have."""
    for reading in readings(answer):
        for match in WORD.finditer(reading.text):
            if _is_listed_name(match.group()) and not known.has(match.group()):
                yield reading.span(*match.span())


def _could_be_name(answer: str, span: Span, word: str) -> bool:
    """Say whether an ordinary word in a capital may be a name there."""
    if not _is_listed_name(word) or _rank(word) < _FUNCTION:
        return False
    near = answer[max(0, span.start - _AROUND) : span.start]
    before = _SENTENCE_END.split(near)[-1]
    if any(map(str.isalnum, before)):
        return not (word in MONTHS and _DATED.search(before))
    after = answer[span.start : span.start + _AROUND]
    line = re.split(r"[.!?\n]", after, maxsplit=1)[0]
    return all(map(_is_listed_name, _folded_words(line)))


def _folded_words(text: str) -> Iterator[str]:
    return (match.group() for match in WORD.finditer(fold(text).text))


def _rank(word: str) -> int:
    return common_words().get(word, len(common_words()))


def _is_listed_name(word: str) -> bool:
    name = word.capitalize()
    return name in first_names() or name in surnames()


def _is_ordinary(word: str) -> bool:
    """Say whether a folded word is one of a dictionary, or made of one."""
    words = common_words()
    digits = any(map(str.isdigit, word))
    if word in words or word in _places() or len(word) == 1 or digits:
        return not _MIXED.search(word)
    for bare in (word, _BEGINNINGS.sub("", word, count=1)):
        stem = _ENDINGS.sub("", bare)
        made = (bare, stem, f"{stem}e", f"{stem}y", stem.removesuffix("i") + "y")
        doubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
        if any(len(item) > _LEAST and item in words for item in (*made, doubled)):
            return True
    return False


def _stem(word: str) -> str:
    """Take a plural for the word itself; a stem would take Manning for a man."""
    return word.removesuffix("s") if len(word) > _LEAST else word


@lru_cache(maxsize=1)
def _places() -> frozenset[str]:
    """Return words that are written with a capital and name nobody."""
    names = (*countries(), *peoples(), *MONTHS, *WEEKDAYS, *_UNITS)
    return frozenset(fold_text(word) for name in names for word in name.split())
