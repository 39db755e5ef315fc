"""
The loop over `tables/patterns.toml`: what a pattern recognizes, or one behind a cue.

Every form is tried where it may begin and nowhere else, so prose without numbers and
cues costs little. No check digit is asked: people mistype, and a wrong digit makes a
number no less somebody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sdrag.detectors.local import tables
from sdrag.detectors.local.tables import MONTHS, SCHEME_NAMES, in_each_case, is_common
from sdrag.detectors.local.tokens import Candidate, TokenIndex
from sdrag.text.dates import CARDINALS, ORDINALS

_PART = re.compile(r"\{([a-z_]+)\}")
_LINE_BREAK = re.compile(r"[ ]*\n[ ]*")
_REACH = 64
"""Characters in front of a form that are looked at."""
_GRAMMAR = 300
"""So many of the most frequent English words are grammar, and no names."""


@dataclass(frozen=True, slots=True)
class PatternRow:
    """A row of the table."""

    pattern: re.Pattern[str]
    before: re.Pattern[str] | None
    lead: re.Pattern[str] | None
    type: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Family:
    """Forms that are tried at the same places."""

    recogniser: str
    reason: str
    at: str
    words: frozenset[str]
    not_words: frozenset[str]
    digits: int
    needs: tuple[str, ...]
    forms: tuple[PatternRow, ...]
    any_form: re.Pattern[str]

    def positions(self, tokens: TokenIndex, anchors: Iterable[int]) -> Iterable[int]:
        """Return where the forms may begin, in order."""
        if self.at == "identifier":
            return anchors
        if self.at == "text":
            text = tokens.text
            needed = any(string in text for string in self.needs)
            return (m.start() for m in self.any_form.finditer(text)) if needed else ()
        if self.at == "number":
            return (tokens.starts[index] for index in tokens.numbers)
        places = tokens.starts if self.at == "word" else tokens.ends
        return sorted(places[index] for index in tokens.indices(self.words))

    def accepts(self, value: str) -> bool:
        """Return True if a value has the digits of the family and none of its words."""
        return (not self.digits or sum(map(str.isdigit, value)) >= self.digits) and (
            not self.not_words or self.not_words.isdisjoint(re.split("[ -]", value))
        )


def find_patterns(
    families: Iterable[Family], tokens: TokenIndex, anchors: list[int]
) -> Iterator[Candidate]:
    """Yield what families recognize; within one of them, none lies within another."""
    text = tokens.text
    for family in families:
        done = 0
        for position in family.positions(tokens, anchors):
            candidate = _match(family, text, position) if position >= done else None
            if candidate:
                done = candidate.end
                yield candidate


def _match(family: Family, text: str, position: int) -> Candidate | None:
    """Return what the first form is that matches there."""
    if not family.any_form.match(text, position):
        return None
    for form in family.forms:
        match = form.pattern.match(text, position)
        if match is None or not family.accepts(match["value"]):
            continue
        start = max(0, position - _REACH)
        if form.before and not form.before.search(text, start, position):
            continue
        lead = form.lead.search(text, start, position) if form.lead else None
        candidate = Candidate(
            *match.span("value"), form.type, form.confidence, family.reason
        )
        return candidate._replace(start=lead.start()) if lead else candidate
    return None


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(words, key=lambda word: (-len(word), word)))})"


def _computed_parts() -> dict[str, str]:
    """Return the parts that are lists of words of the core."""
    full = {month for month in MONTHS if len(month) > len("Sept")}
    full |= {"May", "June", "July"}
    short = _any(rf"{month}\.?" for month in MONTHS - full)
    numbers = [*CARDINALS]  # one to nineteen, and the tens
    units, teens, tens = map(_any, (numbers[:9], numbers[9:19], numbers[19:]))
    first = [*ORDINALS][:9]
    unit_or_first = _any([*numbers[:9], *first])
    return {
        "month": f"(?:{_any(full | {name.upper() for name in full})}|{short})(?![a-z])",
        "title": _any(tables.TITLES),
        "currency_code": _any(tables.word_set("currency_codes")),
        "empty_value": _any(map(re.escape, tables.word_set("empty_values"))),
        "any_month": f"(?i:{_any(MONTHS)})",
        "unit": units,
        "teen": teens,
        "cardinal": f"{tens}(?:[ -]{units})?|{teens}|{units}",
        "ten": f"{tens}(?:[ -]{units})?",
        "below_hundred": f"{tens}(?:[ -]{unit_or_first})?|{teens}|{unit_or_first}",
        "ordinal": f"(?:twenty|thirty)[ -]?{_any(first)}|{_any(ORDINALS)}",
        "hour_in_words": _any(numbers[:12]),
    }


def _load() -> tuple[Family, ...]:
    table = tables.read_toml("patterns")
    parts = _computed_parts() | table["parts"]

    def compiled(pattern: str) -> re.Pattern[str]:
        while match := _PART.search(pattern):
            pattern = pattern.replace(match[0], f"(?:{parts[match[1]]})")
        return re.compile(_LINE_BREAK.sub("", pattern))

    def form(row: Mapping[str, Any], family: Mapping[str, Any]) -> PatternRow:
        value = f"(?P<value>{row['pattern']})"
        start, end = family.get("start", ""), family.get("end", "")
        return PatternRow(
            compiled(f"{start}{row.get('gap', '')}{value}{end}"),
            compiled(row["before"]) if "before" in row else None,
            compiled(row["lead"]) if "lead" in row else None,
            row.get("type", family["type"]),
            row["confidence"],
        )

    def family(row: Mapping[str, Any]) -> Family:
        forms = tuple(form(each, row) for each in row["form"])
        patterns = (each.pattern.pattern.replace("?P<value>", "?:") for each in forms)
        return Family(
            row["recogniser"],
            row["reason"],
            row["at"],
            _words(row.get("words", ""), exact=row.get("exact", False)),
            _words(row.get("not_words", ""), exact=True),
            row.get("digits", 0),
            tuple(row.get("needs", "").split()),
            forms,
            re.compile("|".join(patterns)),
        )

    return tuple(map(family, table["family"]))


def _everyday_names() -> frozenset[str]:
    """Return given names that are a month or an everyday word, as they are written."""
    given = tables.first_names() - tables.TITLES - tables.countries()
    ranks = tables.common_words()
    everyday = {n for n in given if is_common(n) and ranks.get(n.lower(), 0) > _GRAMMAR}
    return in_each_case(
        {name.lower() for name in everyday | (MONTHS & given) | {"Will"}}
    )


def _words(names: str, *, exact: bool) -> frozenset[str]:
    """Return words, and those of the lists that are named with @."""
    words: set[str] = set()
    for name in names.split():
        if name == "@scheme_names":
            return SCHEME_NAMES
        if name == "@everyday_names":
            return _everyday_names()
        if name == "@months":
            return MONTHS | set(map(str.upper, MONTHS))
        words |= tables.word_set(name[1:]) if name[0] == "@" else {name}
    return frozenset(words) if exact else in_each_case(words)


FAMILIES = _load()
PATTERNS = {
    f"{family.reason} {number} {name}": pattern
    for family in FAMILIES
    for number, form in enumerate(family.forms)
    for name, pattern in (
        ("pattern", form.pattern),
        ("before", form.before),
        ("lead", form.lead),
    )
    if pattern
}
