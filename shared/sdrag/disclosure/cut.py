"""
Cutting out what is withheld, and what stands in its place.

All spans are replaced at once. What constraints take of the same stretch gets one
placeholder, and so do spans with nothing but light punctuation between them. One that
is in the text already stays as it is; what only looks like one, and brackets around
what goes, go along, so that no placeholder is in pieces or inside another.

`Dear [person], your rent of [amount] was due on [date].` A placeholder depends on the
words it replaces and on the constraints that take them, and on nothing else: not on the
question, the other chunks or the order in which they were indexed. `[withheld]` stands
for what is cut by its meaning, and where adjacent words of two types go as one. With
`placeholders: plain` there is one for everything.

With `placeholders: numbered` it also says which words of its document it replaces:
`[person-48213370]`. The number is a keyed hash of the document and the words, so it is
the same in whatever chunk, order and process, and does not count what others may see.

Where all constraints that take a value have a level for it in `instead`, the value is
said at the coarsest of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from sys import maxsize
from typing import Self

from sdrag.detectors.generalise import coarsest, generalise
from sdrag.detectors.local.tables import TITLES, in_each_case
from sdrag.detectors.local.terms import type_of_word
from sdrag.detectors.own_patterns import find_matches
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.placeholders import DEFAULT, NUMBERED, Placeholders, with_brackets
from sdrag.policy import DisclosureSection
from sdrag.policy.sections import NOUNS, WITHHELD
from sdrag.state.keys import DocumentKeys
from sdrag.text.cells import Edit, Layout, apply_edits, place, read_cells
from sdrag.text.dates import MONTHS
from sdrag.text.folding import fold_text
from sdrag.text.spans import SpanUnion, merge, shift
from sdrag.vocabulary import Confidential, Constraint, Level, Pattern, Span

Taken = Mapping[Span, frozenset[str]]
"""Spans, and the ids of the constraints that take each."""
WITHHOLD_ALL = Span(0, maxsize)
"""What takes this takes a text whole: not even a placeholder may leave."""


@dataclass(frozen=True, slots=True, repr=False)
class RedactedText(Confidential):
    """A text after replacement; `None` where a constraint withholds it whole."""

    text: str | None
    constraint_ids: tuple[str, ...] = ()
    spans: int = 0


@dataclass(frozen=True, slots=True)
class Replacements:
    """What stands where in a redacted text; it holds none of the text."""

    edits: tuple[Edit, ...] | None = ()
    constraint_ids: tuple[str, ...] = ()
    spans: int = 0

    def apply(self, text: str) -> RedactedText:
        """Replace them in the text that they were found for."""
        if self.edits is None:
            return RedactedText(None, self.constraint_ids, 1)
        redacted = apply_edits(text, self.edits)
        return RedactedText(redacted, self.constraint_ids, self.spans)


def cut(
    text: str, taken: Taken, applied: Sequence[str], style: PlaceholderStyle
) -> Replacements:
    """Return what constraints replace in a text."""
    layout, parts, names, is_whole = _find_regions(text, taken, applied, style)
    if is_whole:
        return Replacements(None, names)
    placeholders = {r: style.choose(text, r, part) for r, part in parts.items()}
    return Replacements(place(layout, placeholders), names, len(placeholders))


def find_values(
    text: str,
    taken: Taken,
    applied: Sequence[str],
    style: PlaceholderStyle,
    exempt: AbstractSet[str],
) -> dict[str, str | None]:
    """
    Return what each numbered placeholder of a text stands for.

    None for one that stands, somewhere, for what a constraint takes that is not among
    the `exempt`, or for two values.
    """
    _, parts, _, _ = _find_regions(text, taken, applied, style)
    values: dict[str, str | None] = {}
    for region, part in parts.items():
        mark, value = style.choose(text, region, part), region.of(text)
        if not NUMBERED.fullmatch(mark):
            continue
        first = values.setdefault(mark, value)
        is_same = first is not None and _is_same(first, value)
        if not is_same or not all(by <= exempt for _, by in part):
            values[mark] = None
    return values


_Parts = dict[Span, list[tuple[Span, frozenset[str]]]]


def _find_regions(
    text: str, taken: Taken, applied: Sequence[str], style: PlaceholderStyle
) -> tuple[Layout, _Parts, tuple[str, ...], bool]:
    """
    Return where placeholders stand, and what of it each constraint takes.

    Returns:
        The layout of the text; the regions with their spans; the constraints that take
        any; and whether one takes all of the text.
    """
    enforced = frozenset(applied)
    spans = {span: by & enforced for span, by in taken.items() if by & enforced}
    whole = spans.pop(WITHHOLD_ALL, frozenset[str]())
    if spans:
        standing = SpanUnion(style.placeholders.find(text))
        spans = {span: by for span, by in spans.items() if not standing.contains(span)}
    taking = whole.union(*spans.values())
    names = tuple(name for name in applied if name in taking)
    if whole:
        return read_cells(""), {}, names, True
    alike = style.placeholders.find_alike(text) if spans else ()
    touched = filter(SpanUnion(spans).overlaps, alike)
    layout = read_cells(text if spans else "")
    regions = [
        with_brackets(layout, region)
        for region in _join(layout, (*spans, *touched), style.between)
    ]
    parts: _Parts = {region: [] for region in regions}
    starts = [region.start for region in regions]
    for span, by in spans.items():
        parts[regions[bisect_right(starts, span.start) - 1]].append((span, by))
    return layout, parts, names, False


_ANY_MONTH = "|".join(MONTHS)
_TABLE = {
    noun: (
        re.compile(f"(?i:{form.replace('{months}', _ANY_MONTH)})") if form else None,
        frozenset(types.split()),
    )
    for noun, (form, types) in NOUNS.items()
}
_WORD = re.compile(r"[^\W\d_]+")
_OTHER_NAMES = ("place", "organisation")
_NAMED = ("person", *_OTHER_NAMES)
_ANY_NAME = "name"
_COMPANY = "company"
"""Only where a constraint asks for firms by that word."""
_NO_NOUNS: tuple[tuple[str, ...], bool] = ((), False)
_LIGHT = re.compile(r"[^\S\n]*[,/&+\u2013-]*[^\S\n]*|(?<=\w)['\u2019](?=\w)")
"""What may be between two that become one: no quotation mark, bracket or line end."""
_CLOSE = re.compile("[^\\S\n]*|['\u2019-]")
"""What may stand between two parts of what has one number."""


_TITLE = f"(?:{'|'.join(sorted(in_each_case(TITLES)))})\\.?[ \u00a0]"
_TITLES = re.compile(f"(?:{_TITLE}(?:(?:and|&) )?)*{_TITLE}")
_TITLES_END = re.compile(f"(?<![\\w-]){_TITLES.pattern}$")
_AROUND = 200
"""Characters on both sides that a pattern of the policy is read with."""
_REACH = 40
"""Titles in front of a name have no more characters."""


def with_titles(text: str, span: Span) -> Span:
    """Extend a person's name to the titles in front of it: Mr and Mrs, Prof. Dr."""
    titles = _TITLES_END.search(text, max(0, span.start - _REACH), span.start)
    return Span(titles.start(), span.end) if titles else span


_Nouns = tuple[tuple[str, ...], bool]
"""The nouns of the types that a constraint names, and whether it names types alone."""


@dataclass(frozen=True)
class PlaceholderStyle:
    """
    The placeholders of a policy.

    Args:
        placeholders: What may be in a text already.
        plain: In place of everything; empty to say the type.
        nouns: What each constraint takes, by its id.
        patterns: Of the policy, that each constraint names, by its id.
        instead: How coarse values may be said that each constraint takes.
        numbered: Whether a placeholder has a number, where it says the type.
        keys: Of the document, which numbers are made with.
    """

    placeholders: Placeholders
    plain: str
    nouns: Mapping[str, _Nouns]
    patterns: Mapping[str, Sequence[Pattern]] = field(default_factory=dict)
    instead: Mapping[str, Sequence[Level]] = field(default_factory=dict)
    numbered: bool = False
    keys: DocumentKeys | None = None

    @classmethod
    def of(
        cls,
        constraints: Sequence[Constraint],
        section: DisclosureSection,
        placeholders: Placeholders = DEFAULT,
    ) -> Self:
        """Read what the constraints name."""
        instead = {rule.id: rule.instead for rule in constraints if rule.instead}
        if section.placeholders == "plain":
            return cls(placeholders, section.placeholder, {}, instead=instead)
        parsed = {rule.id: parse(rule) for rule in constraints}
        nouns = {name: _nouns_of(each) for name, each in parsed.items()}
        patterns = {rule.id: rule.patterns for rule in constraints if rule.patterns}
        numbered = section.placeholders == "numbered"
        return cls(placeholders, "", nouns, patterns, instead, numbered)

    def of_document(self, keys: DocumentKeys) -> Self:
        """Return the placeholders of one document."""
        return replace(self, keys=keys) if self.numbered else self

    @cached_property
    def style(self) -> str:
        """What, beside what is cut, decides how it looks."""
        plain, instead = sorted(self.placeholders.plain), sorted(self.instead.items())
        return repr((self.plain, self.numbered, plain, instead))

    @property
    def between(self) -> re.Pattern[str]:
        """What may stand between two placeholders that become one."""
        return _CLOSE if self.numbered or self.instead else _LIGHT

    def choose(
        self, text: str, region: Span, taken: Iterable[tuple[Span, Iterable[str]]]
    ) -> str:
        """Return what stands in place of a region."""
        taken = list(taken)
        if self.instead:
            takers = {name for _, names in taken for name in names}
            levels = coarsest(self.instead.get(name, ()) for name in takers)
            if coarse := generalise(region.of(text), levels):
                return coarse
        if self.plain:
            return self.plain
        covered: dict[str, list[Span]] = {}
        for span, names in taken:
            for noun in {self._noun(text, span, name) for name in names}:
                covered.setdefault(noun, []).append(span)
        own = (each.noun for named in self.patterns.values() for each in named)
        nouns = [noun for noun in (*own, *_TABLE) if noun in covered]
        covering = (noun for noun in nouns if _covers(covered[noun], region, text))
        noun = next(covering, "")
        if not noun or self.keys is None:
            return f"[{noun}]" if noun else WITHHELD
        words = _numbered_words(region.of(text))
        return self.placeholders.number(noun, self.keys.of("number", words))

    def _noun(self, text: str, span: Span, name: str) -> str:
        """Return the noun for a span that a constraint takes; empty for its meaning."""
        patterns = self.patterns.get(name, ())
        start = max(0, span.start - _AROUND)
        around = text[start : span.end + _AROUND]
        place = shift(span, -start)
        for pattern, match in find_matches(around, patterns) if patterns else ():
            if place.overlaps(match):
                return pattern.noun
        noun = _noun(span.of(text), self.nouns.get(name, _NO_NOUNS))
        return noun or (patterns[0].noun if len(patterns) == 1 else "")


def _numbered_words(value: str) -> str:
    """Return what a number is made of: Dr Lee has that of Lee."""
    title = _TITLES.match(value)
    folded = fold_text(value[title.end() if title else 0 :])
    return "".join(filter(str.isalnum, folded)) or folded


def _is_same(value: str, other: str) -> bool:
    """Say whether two values have one number by right: it could be by chance."""
    return _numbered_words(value) == _numbered_words(other)


def choose_for_type(type_: str, section: DisclosureSection) -> str:
    """Return what stands in place of a mention of a type."""
    if section.placeholders == "plain":
        return section.placeholder
    named = (f"[{noun}]" for noun, (_, types) in _TABLE.items() if type_ in types)
    return next(named, WITHHELD)


_WORDS_FOR = {
    noun: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for noun, words in {
        "username": r"user ?names?|user ids?|log-?ins?|handles?|screen names?"
        r"|nicknames?",
        "secret": r"passwords?|passphrases?|credentials?|secrets?|tokens?"
        r"|(?:api|access|private) keys?",
        "company": r"(?:names? of )?(?:\w+ ){0,2}(?:compan(?:y|ies)|firms?"
        r"|employers?|business(?:es)?)(?: names?)?",
        "account": r"(?:bank )?accounts?(?: (?:numbers?|details))?|ibans?|sort codes?",
        "e-mail": r"e-?mail(?:s| address(?:es)?)?|mail address(?:es)?",
        "address": r"where (?:\w+ ){1,2}lives?|address(?:es)?",
        "phone": r"(?:tele)?phone(?: numbers?)?|mobile numbers?",
        "person": r"names?|people|persons?|who|whom|initials|identit(?:y|ies)",
        "date": r"dates?|birthdays?|when|born",
        "amount": r"sums?|amounts?|pay|paid|salar(?:y|ies)|money|rents?|prices?",
        "age": r"ages?|how old",
        "code": r"numbers?|ids?|codes?|references?|identifiers?|cards?|passports?",
        "": r"personal|identif\w+|contact|details|data|information|links?",
    }.items()
}
_BY_WORDS = frozenset(("username", "secret", "company", "account", "address"))
"""Nouns that a constraint's words tell better than the form of what goes."""


def _nouns_of(parsed: ParsedConstraint) -> _Nouns:
    """Return what stands for what a constraint takes, and if its types alone tell."""
    noun = "" if parsed.names else _noun_in_words(parsed.constraint.text)
    if noun:
        return (noun,), True
    types = parsed.types, bool(parsed.names), parsed.people
    return _nouns(*types), not parsed.meaning


@lru_cache(maxsize=1024)
def _noun_in_words(text: str) -> str:
    """Return the noun of the one thing that a constraint asks for by its name."""
    asked = []
    for noun, words in _WORDS_FOR.items():
        if words.search(text):
            asked.append(noun)
            text = words.sub(" ", text)
    return asked[0] if len(asked) == 1 and asked[0] in _BY_WORDS else ""


@lru_cache(maxsize=1024)
def _nouns(
    types: frozenset[str],
    has_names: bool,  # noqa: FBT001 -- cached by position
    people: bool,  # noqa: FBT001 -- as above
) -> tuple[str, ...]:
    return tuple(
        noun
        for noun, (_, named) in _TABLE.items()
        if (noun == _ANY_NAME and has_names)
        or (
            noun != _COMPANY
            and not types.isdisjoint(named)
            and not (people and noun in _OTHER_NAMES)
        )
    )


def _noun(surface: str, kind: _Nouns) -> str:
    """Return the noun for what a constraint takes; empty for its meaning."""
    nouns, by_type = kind
    if len(nouns) == 1 and by_type:
        return nouns[0]
    fitting = [noun for noun in nouns if _fits(surface, *_TABLE[noun])]
    if len(fitting) > 1 and fitting[0] in _NAMED:
        return _ANY_NAME
    return fitting[0] if fitting else ""


def _fits(surface: str, form: re.Pattern[str] | None, types: frozenset[str]) -> bool:
    """Say whether words look like what a noun says, or one is known to be of it."""
    if form is not None:
        return form.search(surface) is not None
    return any(type_of_word(word) in types for word in _WORD.findall(surface))


def _join(
    layout: Layout, spans: Iterable[Span], between: re.Pattern[str]
) -> tuple[Span, ...]:
    """Join spans of one cell that nothing but `between` parts, sorted and apart."""
    joined: list[Span] = []
    for span in merge(spans):
        if joined and between.fullmatch(layout.text, joined[-1].end, span.start):
            last = joined[-1]
            if _cell_of(layout, last) == _cell_of(layout, span):
                joined[-1] = Span(last.start, span.end)
                continue
        joined.append(span)
    return tuple(joined)


def _cell_of(layout: Layout, span: Span) -> int:
    """Return where the cell begins that a span begins in."""
    cell = layout.at(span.start)
    return -1 if cell is None else cell.start


def _covers(spans: Iterable[Span], region: Span, text: str) -> bool:
    """Say whether no letter and no digit of a region is outside of spans."""
    start, gaps = region.start, []
    for span in merge(spans):
        gaps.append(text[start : span.start])
        start = max(start, span.end)
    gaps.append(text[start : region.end])
    return not any(map(str.isalnum, "".join(gaps)))
