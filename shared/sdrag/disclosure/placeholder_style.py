"""
What stands in place of words that are cut: a placeholder, or a coarser value.

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Self

from sdrag.detectors.generalise import coarsest, generalise_in
from sdrag.detectors.local.tables import TITLES, in_each_case
from sdrag.detectors.local.terms import type_of_word
from sdrag.detectors.own_patterns import find_matches
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.placeholders import DEFAULT, NUMBERED, Placeholders
from sdrag.policy import DisclosureSection
from sdrag.policy.sections import NOUNS, WITHHELD
from sdrag.state.keys import DocumentKeys
from sdrag.text.dates import MONTHS
from sdrag.text.folding import fold_text
from sdrag.text.spans import SpanUnion, merge
from sdrag.vocabulary import Constraint, Pattern, Span

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
_REACH = 40
"""Titles in front of a name have no more characters."""


def with_titles(text: str, span: Span) -> Span:
    """Extend a person's name to the titles in front of it: Mr and Mrs, Prof. Dr."""
    titles = _TITLES_END.search(text, max(0, span.start - _REACH), span.start)
    return Span(titles.start(), span.end) if titles else span


_Part = list[tuple[Span, frozenset[str]]]
Parts = dict[Span, _Part]
"""Regions of a text, each with what constraints take of it."""
_Matched = dict[str, list[tuple[str, SpanUnion]]]
"""What the patterns of a constraint match in a text, each under its noun."""
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
    instead: Mapping[str, Sequence[str]] = field(default_factory=dict)
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

    def choose(self, text: str, parts: Parts) -> dict[Span, str]:
        """Return what stands in place of each region."""
        takers = {name for part in parts.values() for _, by in part for name in by}
        matched: _Matched = {}
        for name in takers & self.patterns.keys():
            found: dict[Pattern, list[Span]] = {}
            for pattern, span in find_matches(text, self.patterns[name]):
                found.setdefault(pattern, []).append(span)
            matched[name] = [(p.noun, SpanUnion(spans)) for p, spans in found.items()]
        return {r: self._choose(text, r, part, matched) for r, part in parts.items()}

    def type_of(self, mark: str) -> str:
        """Return the noun of what stands in place of a region, `other` for a value."""
        noun = mark[1:-1]
        if NUMBERED.fullmatch(mark):
            noun = noun.rpartition("-")[0]
        own = {each.noun for named in self.patterns.values() for each in named}
        return noun if noun in own or noun in _TABLE else "other"

    def _choose(self, text: str, region: Span, taken: _Part, matched: _Matched) -> str:
        if self.instead:
            takers = {name for _, names in taken for name in names}
            levels = coarsest(self.instead.get(name, ()) for name in takers)
            if coarse := generalise_in(text, region, levels):
                return coarse
        if self.plain:
            return self.plain
        covered: dict[str, list[Span]] = {}
        for span, names in taken:
            for noun in {self._noun(text, span, name, matched) for name in names}:
                covered.setdefault(noun, []).append(span)
        own = (each.noun for named in self.patterns.values() for each in named)
        nouns = [noun for noun in (*own, *_TABLE) if noun in covered]
        covering = (noun for noun in nouns if _covers(covered[noun], region, text))
        noun = next(covering, "")
        if not noun or self.keys is None:
            return f"[{noun}]" if noun else WITHHELD
        words = _numbered_words(region.of(text))
        return self.placeholders.number(noun, self.keys.of("number", words))

    def _noun(self, text: str, span: Span, name: str, matched: _Matched) -> str:
        """Return the noun for a span that a constraint takes; empty for its meaning."""
        for noun, spans in matched.get(name, ()):
            if spans.overlaps(span):
                return noun
        noun = _noun(span.of(text), self.nouns.get(name, _NO_NOUNS))
        patterns = self.patterns.get(name, ())
        return noun or (patterns[0].noun if len(patterns) == 1 else "")


def _numbered_words(value: str) -> str:
    """Return what a number is made of: Dr Lee has that of Lee."""
    title = _TITLES.match(value)
    folded = fold_text(value[title.end() if title else 0 :])
    return "".join(filter(str.isalnum, folded)) or folded


def is_same(value: str, other: str) -> bool:
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


def _covers(spans: Iterable[Span], region: Span, text: str) -> bool:
    """Say whether no letter and no digit of a region is outside of spans."""
    start, gaps = region.start, []
    for span in merge(spans):
        gaps.append(text[start : span.start])
        start = max(start, span.end)
    gaps.append(text[start : region.end])
    return not any(map(str.isalnum, "".join(gaps)))
