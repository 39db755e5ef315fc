"""
What a constraint asks for: types of mentions by their names, subjects by their terms.

The wordings of types (`tables/types.toml`) are looked for in the whole constraint, the
terms of trades in its topic. The longest phrase wins: "family secrets"
names a subject of its own, so "secrets" inside it is no credential. The types of a
subject count beside its cues, but for those whose form alone tells what they are.

Of the tables of trades, each is an INI file in `tables`, and a concept a section of it
with up to four keys:

    [legal privilege]
    asked = privileg*; legal advice; advice of counsel
    found = solicitor*; barrister*; prospects of success
    sure = without prejudice letter*
    types = MONEY; codes

`asked` holds what a constraint says, `found` what a text says that tells it, `sure`
what tells it in any text, so that the networks need not decide, and `types` which
mentions tell it, by type or by the name of a group. What is asked for is also looked
for in the text, except in a concept without `found`. A `*` matches any ending of a
word; the last word of a phrase may be in the plural; a hyphen may be a space or be
missing. In `asked`, `(a|b)` and `?` mean what they do in patterns, a group
`( a| b)*` may be missing, ` .* ` is one to six words, and general words (records,
details, results) may follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sdrag.detectors.local.number_kinds import number_kinds
from sdrag.detectors.local.tables import FUNCTION_WORDS, common_words
from sdrag.disclosure.constraint_parser.names import find_people
from sdrag.disclosure.constraint_parser.number_kinds import find_kinds
from sdrag.disclosure.constraint_parser.parsed_constraint import (
    ParsedConstraint,
    Topic,
)
from sdrag.disclosure.constraint_parser.wording import (
    QUOTED,
    asks_for_names,
    blank_audience,
    is_clause,
    parts_of,
    pattern,
    subject_of,
    topic_of,
)
from sdrag.disclosure.constraint_parser.words import (
    concept_rows,
    content_words,
    is_abbreviation,
    surface_forms,
    table,
    word_set,
)
from sdrag.text.folding import fold_text
from sdrag.text.phrase_matcher import needs_case
from sdrag.text.spans import shift
from sdrag.vocabulary import Span

_ANYONE = frozenset({"people", "person", "persons", "individual", "individuals"})
_BELONGING = re.compile(r"\b(?:of|from|by|for|belonging to) [^,;.]+")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_CAPITALS = re.compile(r"\b[A-Z]{2,6}\b")
_CODE = re.compile(r"(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[\w-]{4,}")
_BY_FORM = frozenset(
    {"AMOUNT", "CODE", "CREDENTIAL", "CREDIT_CARD", "EMAIL_ADDRESS", "IBAN_CODE"}
    | {"MONEY", "PHONE_NUMBER", "US_SSN"}
)
"""Types that count wherever they are, even if only a subject brings them."""
_OF_A_TRADE, _RARE = 3000, 10_000
"""From such a rank on, a word in a clause is a term; a rarer one where it brings types
that count everywhere."""
_FOUND_AS = {"AMOUNT": "NUMBER", "LONG_NUMBER": "NUMBER", "BIRTH_DATE": "DATE"}
"""What a detector finds for types that only their surroundings tell."""
_ORDINARY = 5000
"""So many of the most frequent English words are in every text, so they only hint."""

_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_OPTIONAL = re.compile(r"\(( [^()]*)\)\*")
_GENERAL = (
    r"(?: (?:tests?|results?|status|records?|histor(?:y|ies)|information|data|details?"
    r"|matters?|issues?|problems?|cases?|reports?|findings?|claims?|decisions?|files?"
    r"|documents?|notes|treatments?|levels?|situations?|circumstances|lists?"
    r"|diagnos(?:is|es)|conditions?|symptoms?|medications?|therap(?:y|ies)))*"
)
"""What may follow the term of a trade: "fertility treatment" is of fertility alone."""
_HEADS = (
    r"(?:(?:(?:diagnos(?:is|es)|treatments?|medications?|symptoms?|signs"
    r"|histor(?:y|ies)|cases?)(?:,? (?:and|or) |, )?)+ (?:of|for) (?:any |an? |the )?)?"
)
"""What may be before it: so is "the diagnosis and treatment of depression"."""
_ANY = "\0"


@dataclass(frozen=True, slots=True)
class Concept:
    """Something that constraints speak of."""

    name: str
    asked: tuple[str, ...]
    found: tuple[str, ...]
    sure: tuple[str, ...]
    types: frozenset[str]


def read_types_and_topics(text: str) -> ParsedConstraint:
    """Read what a constraint in plain characters asks for by types and by topics."""
    content = blank_audience(text)
    rows = [(_span(m), w) for w in _wordings() for m in w.rule.finditer(content)]
    terms = list(_find_terms(content))
    names, named = _find_names(content)
    spans = [*named, *(span for span, _ in (*rows, *terms))]
    rows, terms, with_kinds, kinds = _part_numbers(content, rows, terms)
    spans += [span for span, _ in find_kinds(content, spans)] if kinds else []
    wordings, concepts = _leave_longest(rows, terms)
    worded = names.union(with_kinds, *(wording.types for wording in wordings))
    topics = [_make_topic(concept) for concept in concepts if concept.found]
    topics += _find_topics_beside(content, wordings)
    whole = [concept.types for concept in concepts if not concept.found]
    everywhere = worded.union(
        *whole, *(concept.types & _BY_FORM for concept in concepts)
    )
    numbered = types_of(["codes"]) - everywhere if kinds else frozenset()
    types = everywhere.union(numbered, *(topic.types for topic in topics))
    if names or kinds or any(wording.known for wording in wordings):
        meaning = pattern("meaning").search(content) is not None
    else:
        meaning = not any(whole)
    meaning = (
        meaning
        or any(wording.near and not wording.types for wording in wordings)
        or any(topic.cues for topic in topics)
        or _says_more(content, spans)
    )
    literal = _find_literal(text, abbreviations=not types and not topics)
    if literal:
        topics.append(Topic("quoted", literal))
    people = "PERSON" in everywhere
    return ParsedConstraint(
        kind="meaning" if meaning else "people" if people else "types",
        types=frozenset(_FOUND_AS.get(type_, type_) for type_ in types),
        everywhere=everywhere,
        people=people,
        meaning=meaning,
        subject=subject_of(text),
        names=find_people(text) if people else (),
        topics=tuple(topics),
        kinds=kinds,
        numbered=numbered,
        implied=everywhere - worded.union(*whole),
        unheard=tuple(_find_unheard(content, spans)),
    )


class _Wording(NamedTuple):
    """A row of `tables/types.toml`; `near` counts beside one of `words`."""

    rule: re.Pattern[str]
    types: frozenset[str]
    near: frozenset[str]
    words: frozenset[str]
    known: bool


@lru_cache(maxsize=1)
def _wordings() -> tuple[_Wording, ...]:
    return tuple(
        _Wording(
            re.compile(rf"\b(?:{'|'.join(row['wordings'])})\w*", re.IGNORECASE),
            types_of(row.get("types", ())),
            types_of(row.get("near", ())),
            frozenset(row.get("words", "").split()),
            name == "known",
        )
        for name in ("known", "in_part")
        for row in table("types")[name]
    )


_Rows = list[tuple[Span, _Wording]]
_Terms = list[tuple[Span, "Concept"]]


def _part_numbers(
    content: str, rows: _Rows, terms: _Terms
) -> tuple[_Rows, _Terms, frozenset[str], frozenset[str]]:
    """
    Part what names kinds of numbers from what names types.

    Returns:
        The wordings and terms that are in no such name, the types that the kinds have
        besides numbers, and the kinds. Where another wording asks for codes of any
        kind, so does the whole constraint.
    """
    phrases = list(find_kinds(content, [span for span, _ in rows]))
    named = [span for span, _ in phrases]
    counts = types_of(["counts"])
    other_rows = [
        (span, row)
        for span, row in rows
        if row.near == counts or not _is_in(span, named)
    ]
    other_terms = [
        (span, concept)
        for span, concept in terms
        if concept.found or not _asks_for_numbers(span, concept, named)
    ]
    rest = frozenset().union(
        *(row.types | row.near for _, row in other_rows),
        *(concept.types for _, concept in other_terms if not concept.found),
    )
    if not phrases or "CODE" in rest:
        return rows, terms, frozenset(), frozenset()
    kinds = frozenset().union(*(kinds for _, kinds in phrases))
    types = frozenset().union(*(number_kinds()[name].types for name in kinds))
    return other_rows, other_terms, types, kinds


def _is_in(span: Span, named: Sequence[Span]) -> bool:
    return any(other.contains(span) for other in named)


def _asks_for_numbers(span: Span, concept: Concept, named: Sequence[Span]) -> bool:
    """Say whether a term asks for numbers alone, in words that name a kind of them."""
    numbers = concept.types <= types_of(["codes"])
    return numbers and any(other.overlaps(span) for other in named)


def _find_names(text: str) -> tuple[frozenset[str], list[Span]]:
    """Return the types of the names that a wording asks for, and where it does."""
    text = pattern("other_name").sub(lambda match: " " * len(match.group()), text)
    spans = [_span(match) for match in pattern("name").finditer(text)]
    if not spans:
        return frozenset(), spans
    types = {"PERSON"}
    if pattern("organisation").search(text):
        types |= {"ORGANIZATION", "LOCATION"}
    if pattern("alias").search(text):
        types.add("TERM")
    return frozenset(types), spans


def _find_topics_beside(content: str, wordings: Sequence[_Wording]) -> Iterator[Topic]:
    """Yield what counts only near words that wordings or the constraint itself give."""
    words = frozenset(
        form
        for word in content_words(content)
        for form in surface_forms(word.lower().removesuffix("s"))
    )
    for wording in wordings:
        if wording.near:
            yield Topic("", frozenset(), wording.words | words, wording.near)


def _says_more(content: str, spans: Sequence[Span]) -> bool:
    """
    Say whether a part of a list has words of its own and nothing that is known.

    One word in the singular shares the next part's noun: "chip and ring numbers".
    """
    if asks_for_names(content):
        return False
    for part in parts_of(content, content.find(subject_of(content))):
        words = list(content_words(part.group()))
        shares = (
            len(words) == 1 and not words[0].endswith("s") and part.end() < len(content)
        )
        known = any(_span(part).overlaps(other) for other in spans)
        only_says_which = pattern("scope").fullmatch(part.group().strip(" .()"))
        if words and not known and not shares and not only_says_which:
            return True
    return False


def _find_unheard(content: str, spans: Sequence[Span]) -> Iterator[str]:
    """Yield the words that say whose or of what, and that no table knows."""
    silent = FUNCTION_WORDS | word_set("orders") | word_set("blanket") | _ANYONE
    people = word_set("people") | word_set("audience")
    belonging = [_span(match) for match in _BELONGING.finditer(content)]
    for match in _LETTERS.finditer(content, content.find(subject_of(content))):
        span, word = _span(match), match.group().lower().removesuffix("'s")
        if word in silent or any(span.overlaps(other) for other in spans):
            continue
        if word in people or any(span.overlaps(other) for other in belonging):
            yield match.group()


def _span(match: re.Match[str]) -> Span:
    return Span(*match.span())


def _leave_longest(
    wordings: Sequence[tuple[Span, _Wording]], spoken: Sequence[tuple[Span, Concept]]
) -> tuple[list[_Wording], list[Concept]]:
    """Leave out what is matched only inside longer phrases."""
    spans = {span for span, _ in (*wordings, *spoken)}
    inner = {
        span
        for span in spans
        if any(len(other) > len(span) and other.contains(span) for other in spans)
    }
    return (
        list(dict.fromkeys(row for span, row in wordings if span not in inner)),
        list(dict.fromkeys(row for span, row in spoken if span not in inner)),
    )


def _find_terms(content: str) -> Iterator[tuple[Span, Concept]]:
    """Yield the concepts that are a constraint's topic, and where."""
    if asks_for_names(content):
        return
    topic, ranks = topic_of(content), common_words()
    exact = is_clause(topic)
    for span, concept in find_concepts(topic):
        term = _OF_A_TRADE if concept.found else _RARE
        if not exact or ranks.get(span.of(topic), term) >= term:
            yield span, concept


@lru_cache(maxsize=1024)
def _make_topic(concept: Concept) -> Topic:
    phrases = (*concept.asked, *concept.found, *concept.sure)
    forms = frozenset(form for phrase in phrases for form in surface_forms(phrase))
    sure = frozenset(form for phrase in concept.sure for form in surface_forms(phrase))
    ranks = common_words()
    hints = frozenset(f for f in forms if ranks.get(f, _ORDINARY) < _ORDINARY)
    types = frozenset(_FOUND_AS.get(type_, type_) for type_ in concept.types)
    return Topic(concept.name, forms - hints, hints, types - _BY_FORM, sure)


def _find_literal(text: str, *, abbreviations: bool) -> frozenset[str]:
    """Return what a constraint quotes or writes as a code, to be found as it is."""
    words = [first or second for first, second in QUOTED.findall(text)]
    words += _CODE.findall(text)
    if abbreviations:
        words += (word for word in _CAPITALS.findall(text) if is_abbreviation(word))
    return frozenset(word if needs_case(word) else fold_text(word) for word in words)


def types_of(names: Iterable[str]) -> frozenset[str]:
    """Return types by their names and the names of their groups."""
    groups = table("types")["groups"]
    return frozenset(type_ for name in names for type_ in groups.get(name, (name,)))


def find_concepts(topic: str) -> Iterator[tuple[Span, Concept]]:
    """Yield the concepts that a folded text speaks of, and where."""
    bare = topic.lstrip(" ,")
    for concept, rule in _rules():
        for match in rule.finditer(bare):
            yield shift(Span(*match.span()), len(topic) - len(bare)), concept


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[Concept, re.Pattern[str]], ...]:
    return tuple(
        (
            Concept(
                name,
                cells["asked"],
                cells.get("found", ()),
                cells.get("sure", ()),
                types_of(cells.get("types", ())),
            ),
            re.compile(_pattern(cells["asked"])),
        )
        for name, cells in concept_rows()
    )


def _pattern(phrases: tuple[str, ...]) -> str:
    rules = (
        _OPTIONAL.sub(_make_optional, _HYPHEN.sub("[ -]?", phrase.lower()))
        .replace(" .* ", _ANY)
        .replace("*", r"\w*")
        .replace(_ANY, " (?:[^ ]+ ){1,6}?")
        for phrase in sorted(phrases, key=lambda phrase: -len(phrase.split()))
    )
    term = rf"(?:{'|'.join(rules)})(?:s|(?<=[sxh])es)?(?!\w)"
    return rf"(?<![\w-]){_HEADS}{term}{_GENERAL}(?!\w)"


def _make_optional(group: re.Match[str]) -> str:
    words = (word.strip() for word in group[1].split("|"))
    return rf"(?: (?:{'|'.join(words)})*)?"
