"""
What people in an office mean by the terms of their trade: one table for each domain.

A table is an INI file in `tables`, a concept a section of it with up to three keys:

    [legal privilege]
    asked = privileg*; legal advice; advice of counsel
    found = solicitor*; barrister*; prospects of success
    types = MONEY; codes

`asked` holds what a constraint says, `found` what a text says that tells it, and
`types` which mentions tell it, by type or by the name of a group. What is asked for is
also looked for in the text, except in a concept without `found`. A `*` matches any
ending of a word; the last word of a phrase may be in the plural; a hyphen may be a
space or be missing. In `asked`, `(a|b)` and `?` mean what they do in patterns, a group
`( a| b)*` may be missing, ` .* ` is one to six words, and general words (records,
details, results) may follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from sdrag.disclosure.constraint_parser.words import (
    beginning_with,
    concept_rows,
    table,
)
from sdrag.text.spans import shifted
from sdrag.vocabulary import Span

_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_RULE = re.compile(r"[()|?\[.]")
_OPTIONAL = re.compile(r"\(( [^()]*)\)\*")
_GENERAL = (
    r"(?: (?:tests?|results?|status|records?|histor(?:y|ies)|information|data|details?"
    r"|matters?|issues?|problems?|cases?|reports?|findings?|claims?|decisions?|files?"
    r"|documents?|notes|treatments?|levels?|situations?|circumstances|lists?))*"
)
"""What may follow the term of a trade: "fertility treatment" is of fertility alone."""
_ANY = "\0"


@dataclass(frozen=True, slots=True)
class Concept:
    """
    Something that constraints speak of.

    Args:
        name: Of its section.
        asked: Phrases of constraints.
        found: Phrases of texts; empty where types tell everything.
        types: Types of mentions that tell it.
    """

    name: str
    asked: tuple[str, ...]
    found: tuple[str, ...]
    types: frozenset[str]


def types_of(names: Iterable[str]) -> frozenset[str]:
    """Return types by their names and the names of their groups."""
    groups = table("types")["groups"]
    return frozenset(type_ for name in names for type_ in groups.get(name, (name,)))


def find_concepts(topic: str) -> Iterator[tuple[Span, Concept]]:
    """Yield the concepts that a folded text speaks of, and where."""
    bare = topic.lstrip(" ,")
    for concept, rule in _rules():
        for match in rule.finditer(bare):
            yield shifted(Span(*match.span()), len(topic) - len(bare)), concept


@lru_cache(maxsize=4096)
def surface_forms(phrase: str) -> frozenset[str]:
    """Return how a phrase of a table may be in a text; none for a pattern."""
    if _RULE.search(phrase):
        return frozenset()
    ways = [_endings(word, last=False) for word in phrase.split()]
    ways[-1] = _endings(phrase.rsplit(maxsplit=1)[-1], last=True)
    forms = {" ".join(words) for words in product(*ways)}
    hyphened = {form for form in forms if "-" in form}
    forms |= {form.replace("-", " ") for form in hyphened}
    return frozenset(forms | {form.replace("-", "") for form in hyphened})


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[Concept, re.Pattern[str]], ...]:
    return tuple(
        (
            Concept(
                name,
                cells["asked"],
                cells.get("found", ()),
                types_of(cells.get("types", ())),
            ),
            re.compile(_pattern(cells["asked"])),
        )
        for name, cells in concept_rows()
    )


def _pattern(phrases: tuple[str, ...]) -> str:
    rules = (
        _OPTIONAL.sub(_may_be_missing, _HYPHEN.sub("[ -]?", phrase.lower()))
        .replace(" .* ", _ANY)
        .replace("*", r"\w*")
        .replace(_ANY, " (?:[^ ]+ ){1,6}?")
        for phrase in sorted(phrases, key=_most_words)
    )
    return rf"(?<![\w-])(?:{'|'.join(rules)})(?:s|(?<=[sxh])es)?(?!\w){_GENERAL}(?!\w)"


def _may_be_missing(group: re.Match[str]) -> str:
    words = (word.strip() for word in group[1].split("|"))
    return rf"(?: (?:{'|'.join(words)})*)?"


def _most_words(phrase: str) -> int:
    """Order phrases so that a pattern tries the longer ones first."""
    return -len(phrase.split())


def _endings(word: str, *, last: bool) -> tuple[str, ...]:
    """Return the forms of a word, every one of them a word."""
    if word.endswith("*"):
        stem = word.removesuffix("*")
        lead, dash, tail = stem.rpartition("-")
        known = [f"{lead}{dash}{form}" for form in beginning_with(tail)]
        return (stem, *known)
    if not last or not word.isalpha():
        return (word,)
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return word, f"{word[:-1]}ies"
    return word, f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
