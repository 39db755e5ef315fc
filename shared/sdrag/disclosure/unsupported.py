"""
What an answer says of a type that a constraint asks for, and its context does not hold.

Whoever puts twenty names into a question learns which of them is hidden if the answer
loses only that one. So the released context decides what an answer may say, and what is
known of the documents decides nothing. There is one rule: a token whose shape is that
of a type that is asked for goes, unless the context holds it, and so do the tokens of
such shapes beside it. What a detector or a register finds grows by the same rule, so a
right value and a wrong one lose the same stretch.

Figures are digits, months and groups of letters next to each other; whatever parts them
and in which notation makes no difference. Of the words, those that no dictionary has
are such tokens, and those written as names are, for constraints on names or meaning.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from sdrag.detectors.language import find_language
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.local.tables import (
    first_names,
    listed,
    peoples,
    surnames,
)
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.local.by_name import find_by_name
from sdrag.disclosure.local.by_pattern import find_by_pattern
from sdrag.disclosure.local.by_type import find_by_type
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.disclosure.released_context import (
    END,
    GAP,
    LEAST,
    SCALES,
    FoldedToken,
    ReleasedContext,
    capitals,
    find_runs,
    find_tokens,
    fold_words,
    is_listed_name,
    is_ordinary,
    rank,
)
from sdrag.effects.steps import Steps, replied
from sdrag.placeholders import Placeholders
from sdrag.policy import Policy, binds
from sdrag.text.dates import MONTHS
from sdrag.text.folding import Folded, fold_text
from sdrag.text.readings import readings
from sdrag.text.spans import merge
from sdrag.vocabulary import (
    Confidential,
    Constraint,
    Mention,
    Passage,
    Principal,
    Span,
)

_IN_PLACE = Constraint("placeholders", "What stands in place of a hidden value")
"""Whatever else the policy asks for: what an answer says there is a guess."""
_FORMS = listed(
    """
    AGE CODE COORDINATES CREDENTIAL CREDIT_CARD DATE DOMAIN_NAME DOSE DURATION
    EMAIL_ADDRESS IBAN_CODE IP_ADDRESS MONEY NUMBER PHONE_NUMBER QUANTITY TIME URL
    US_SSN YEARS ZIP_CODE
    """
)
"""Types that are known by their form; of the others no list has all words."""
_PROPER = frozenset({"LOCATION", "ORGANIZATION", "PERSON", "USERNAME"})
_WORDED = frozenset({"ADDRESS", "CREDENTIAL", "USERNAME"})
"""Types whose values may be ordinary words with a figure."""
_FIGURES = {
    **dict.fromkeys(_WORDED, 2),
    **dict.fromkeys(listed("CODE MONEY NUMBER ZIP_CODE"), 3),
    **dict.fromkeys(listed("CREDIT_CARD IBAN_CODE IP_ADDRESS PHONE_NUMBER US_SSN"), 5),
}
"""Types that any figure may be of, and the least digits of one."""
_DATE = re.compile(
    r"\d{6}|\d{8}|\d{1,4}\W{1,3}(?:\d\d?|[ivx]{1,4})\W{1,3}\d{1,4}"
    rf"|(?=.*\d).*\b(?:{'|'.join(MONTHS)})\b.*"
)
_AGE = re.compile(r"[1-9]\d|1[01]\d")
_SCALED = re.compile(rf"\d ?(?:{'|'.join(SCALES)})\b")
_MAIL = re.compile(
    r"(?<!\w)(?:[\w+-]{1,64}(?: \. |\.)){0,6}[\w+-]{1,64}"
    r" ?(?:@|[(\[{] ?at ?[)\]}]| at ) ?[\w-]{1,64}"
    r"(?:(?: \. |\.| dot | ?[(\[{] ?dot ?[)\]}] ?)(?=[a-z])[\w-]{1,64}){1,6}"
)
"""An e-mail address, its signs as such or in words."""
_INITIALS = re.compile(
    r"(?<![\w.])(?!(?:u\.s|u\.k|e\.g|i\.e|a\.m|p\.m)\b)"
    r"[^\W\d_](?:\. ?[^\W\d_](?!\w)\.?|(?:[ ._*-]{1,3}[^\W\d_](?!\w)){2})"
)
_APART = re.compile(r"(?<!\w)[^\W_](?:[ ._*-]{1,3}[^\W_](?!\w)){3,}")
"""Any value in letters apart."""
_SHAPES = (("", _APART), ("EMAIL_ADDRESS", _MAIL), ("PERSON", _INITIALS))
"""Of what type a value has a shape of its own, besides figures."""
_MEASURED = re.compile(
    r"\W?\d[\d.,:]*[a-z]{0,4}|[a-z]{1,3}-?\d+|[a-z]{1,8}-?\d{2,}|[$@#+!]\w*|\w+[$@#+!]",
    re.IGNORECASE,
)
"""Such as `20mg`, `covid19` and `$20`, which digits read as letters make words of."""
_CONTRACTION = re.compile(
    r"\b(?:are|could|did|do|does|had|has|have|is|might|must|need|should|was|were|would)"
    r"n['\u2019]t\b",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"(?<=[\w,;] )([A-Z][\w'-]*)")
_INITIAL_BEFORE = re.compile(r"(?<!\w)[^\W\d_]\. ?\Z")
_LINE_END = re.compile(r"[.!?\n]")
_LINE = 200
"""Characters that tell whether a line consists of names."""
_DATED = listed("in on of by since until from to last next")
_FUNCTION, _TELLING, _RARE = 100, 500, 4_000
"""From these ranks on, a word tells something, and means the same everywhere."""


def find_unsupported(
    answer: str,
    context: Sequence[Passage],
    policy: Policy,
    principal: Principal | None,
    placeholders: Placeholders,
    *,
    question: str = "",
    withheld: Iterable[Span] = (),
) -> Steps[tuple[Span, ...]]:
    """
    Return where an answer says what its context does not hold and a constraint hides.

    Args:
        answer: What the model said, or a question, read as if somebody answered it.
        context: As it was released.
        policy: Whose constraints count, whatever their `where`: a context may lack the
            metadata.
        principal: Who is answered; every constraint binds nobody.
        placeholders: What may stand in the context in place of a hidden value.
        question: What was asked.
        withheld: Where a register knows what was withheld.
    """
    parsed_rules = [parse(rule) for rule in policy.rules if binds(rule, principal)]
    if hidden := placeholders.types_in(passage.text for passage in context):
        parsed_rules.append(
            ParsedConstraint(_IN_PLACE, "types", hidden, everywhere=hidden)
        )
    if not parsed_rules:
        return tuple(withheld)
    answer = placeholders.blank(answer)
    answer = _CONTRACTION.sub(lambda match: " " * len(match.group()), answer)
    off = policy.disclosure.recognisers_off
    (outcome,) = yield from LocalDetector(off=off).detect([answer])
    mentions = replied(outcome)
    known = ReleasedContext.of(context)
    types = frozenset(kind for rule in parsed_rules for kind in rule.types)
    first, *others = (
        _AnswerReading.of(each, answer, known) for each in readings(answer)
    )
    spans = {*withheld, *_find_mentions(first, mentions, parsed_rules, off)}
    for reading in (first, *others):
        spans.update(_find_figures(reading, types))
    if any(p.names or p.meaning or p.types - _FORMS for p in parsed_rules):
        names = any(parsed.names for parsed in parsed_rules)
        proper = names or not types.isdisjoint(_PROPER)
        brought = _read_question(question, proper=proper)
        spans.update(_find_words(first, brought, proper=proper))
        for reading in others:
            found = _find_words(reading, brought, proper=proper)
            spans.update(span for span in found if not first.is_released(span))
    return tuple(first.grow(merge(spans), any_word=not types.isdisjoint(_WORDED)))


def _find_mentions(
    read: _AnswerReading,
    mentions: Sequence[Mention],
    parsed_rules: Sequence[ParsedConstraint],
    off: Sequence[str],
) -> Iterator[Span]:
    """Yield the mentions that a constraint asks for and the context lacks."""
    document = JoinedText.of([Passage("answer", read.text)])
    findings = [
        *find_by_type(document, mentions, parsed_rules, off),
        *find_by_name(document, mentions, parsed_rules),
        *find_by_pattern(document, parsed_rules),
    ]
    yield from (each.span for each in findings if not read.is_released(each.span))


def _find_figures(read: _AnswerReading, types: AbstractSet[str]) -> Iterator[Span]:
    """Yield figures, addresses and initials that were not released."""
    folded = read.folded
    for run in find_runs(read.tokens):
        new = [read.tokens[i].place for i in run if i not in read.held]
        if new and _fits(folded.text[new[0].start : new[-1].end], types):
            yield folded.span(new[0].start, new[-1].end)
    for wanted, pattern in _SHAPES:
        for match in pattern.finditer(folded.text) if wanted in {"", *types} else ():
            span = folded.span(*match.span())
            decoded = fold_text(span.of(read.text)) != match.group()
            skipped = decoded and pattern is _INITIALS
            if not skipped and match.group() not in read.known.folded:
                yield span
    if "NATIONALITY" in types:
        known, words = read.known, frozenset(map(fold_text, peoples()))
        named = (t for t in read.tokens if t.word in words and not known.has(t.word))
        yield from (token.span for token in named)


def _fits(figure: str, types: AbstractSet[str]) -> bool:
    digits = sum(map(str.isdigit, figure))
    size = digits + (sum(map(str.isalpha, figure)) >= LEAST)
    if digits and any(size >= _FIGURES[type_] for type_ in types & _FIGURES.keys()):
        return True
    if "MONEY" in types and _SCALED.search(figure):
        return True
    if "YEARS" in types and _AGE.fullmatch(figure):
        return True
    return "DATE" in types and _DATE.fullmatch(figure) is not None


def _find_words(
    read: _AnswerReading, brought: AbstractSet[str], *, proper: bool
) -> Iterator[Span]:
    """Yield the words of an answer that the context lacks and no dictionary has."""
    language = find_language(read.text)
    foreign = language not in {"en", None} and language == read.known.language
    for i, token in enumerate(read.tokens):
        word, span = token.word, token.span
        if proper and not foreign and read.has_first_name(i):
            yield span
        if read.known.has(word):
            continue
        surface = span.of(read.text)
        if foreign:
            guess = is_listed_name(word)
        elif fold_text(surface) != word:  # encoded, or disguised
            guess = not _MEASURED.fullmatch(surface) or is_listed_name(word)
        else:
            in_question = word in brought and (token.capital or rank(word) >= _RARE)
            named = proper and token.capital and read.could_be_name(i)
            guess = in_question or named or not is_ordinary(word)
        if guess:
            yield span


def _read_question(question: str, *, proper: bool) -> AbstractSet[str]:
    """Return the words of a question that could be names, or are rare, folded."""
    written = {fold_text(match[1]) for match in _CAPITAL.finditer(question)}
    return written | {
        word
        for word in fold_words(question)
        if (rank(word) >= _TELLING and is_listed_name(word))
        or (rank(word) >= _RARE and not proper)
    }


@dataclass(frozen=True, slots=True, repr=False)
class _AnswerReading(Confidential):
    """A reading of an answer, and which figures of it the context holds."""

    folded: Folded
    text: str
    tokens: Sequence[FoldedToken]
    held: frozenset[int]
    known: ReleasedContext

    @classmethod
    def of(cls, folded: Folded, text: str, known: ReleasedContext) -> _AnswerReading:
        tokens = find_tokens(folded, text)
        held = frozenset(known.find_held(folded, tokens))
        return cls(folded, text, tokens, held, known)

    def is_released(self, span: Span) -> bool:
        """Say whether the context holds a mention, a figure of it in any notation."""
        inside = range(*self._inside(span))
        may = "may" if any(self.tokens[i].digits for i in inside) else ""  # the month
        figures = [
            i
            for i in inside
            if i in self.held or self.tokens[i].digits or self.tokens[i].word == may
        ]
        words = [self.tokens[i].word for i in inside if i not in figures]
        words = [w for w in words if rank(w) >= _FUNCTION and w not in SCALES]
        if not words:
            return bool(figures) and self.held.issuperset(figures)
        return self.held.issuperset(figures) and self.known.holds(words)

    def has_first_name(self, i: int) -> bool:
        """Say whether a surname is behind a first name or an initial."""
        word, before = self.tokens[i].word, self.tokens[max(0, i - 1)]
        if rank(word) < _TELLING or word.capitalize() not in surnames():
            return False
        span = self.tokens[i].span
        if _INITIAL_BEFORE.search(self.text, max(0, span.start - 4), span.start):
            return not self.known.has(word)
        named = i > 0 and before.word.capitalize() in first_names()
        released = (before.word, word) in self.known.pairs
        return named and rank(before.word) >= _TELLING and not released

    def could_be_name(self, i: int) -> bool:
        """Say whether an ordinary word in a capital may be a name there."""
        word, token = self.tokens[i].word, self.tokens[i]
        if len(word) == 1 or rank(word) < _FUNCTION:
            return False
        if token.begins:
            line = _LINE_END.split(self.text[token.span.start :][:_LINE])[0]
            return all(map(is_listed_name, fold_words(line)))
        dated = word in MONTHS and (
            self.tokens[i - 1].digits
            or self.tokens[i - 1].word in _DATED
            or any(token.digits for token in self.tokens[i + 1 : i + 2])
        )
        rare = rank(word) >= _RARE and word not in capitals()
        return (rare or is_listed_name(word)) and not dated

    def grow(self, spans: Iterable[Span], *, any_word: bool) -> Iterator[Span]:
        """Grow spans over the tokens beside them that are of such shapes."""
        for span in spans:
            first, stop = self._inside(span)
            if first >= stop:
                yield span
                continue
            tokens = self.tokens[first:stop]
            loose = any_word and any(token.digits for token in tokens)
            while first and self._joins(first - 1, first, loose=loose):
                first -= 1
            while stop < len(self.tokens) and self._joins(stop, stop, loose=loose):
                stop += 1
            start, end = self.tokens[first].span.start, self.tokens[stop - 1].span.end
            yield Span(min(start, span.start), max(end, span.end))

    def _inside(self, span: Span) -> tuple[int, int]:
        first = bisect_right(self.tokens, span.start, key=lambda token: token.span.end)
        stop = bisect_left(self.tokens, span.end, key=lambda token: token.span.start)
        return first, stop

    def _joins(self, i: int, right: int, *, loose: bool) -> bool:
        """Say whether a token, one of the two around `right`, goes with the other."""
        token, before = self.tokens[i], self.tokens[right - 1]
        gap = self.text[before.span.end : self.tokens[right].span.start]
        ends = len(before.word) > 1 and END.search(gap)
        if len(gap) > GAP or ends or i in self.held:
            return False
        if len(token.word) == 1:
            return token.digits or token.capital or "." in gap
        if token.digits or self.known.has(token.word):
            return token.digits
        if token.capital and not token.begins:
            return True
        if rank(token.word) >= _TELLING and is_listed_name(token.word):
            return True
        content = loose and rank(token.word) >= _FUNCTION
        return content or not is_ordinary(token.word)
