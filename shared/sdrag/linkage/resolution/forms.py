"""
The forms of one pool, and which of them are one entity.

A pool holds what is compared: all types of one role, but terms by type, for a disease
and its treatment are near and two. A form under two types is joined by the rules alone,
so "1204" the room stays apart from "12" of anything.

A name that several people bear is a form for each of them. What is known to be two is
never joined, whatever rule says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from sdrag.linkage.mentions import Found
from sdrag.linkage.resolution.namesakes import Namesakes
from sdrag.linkage.resolution.numbers import (
    age_pairs,
    code_pairs,
    date_pairs,
    phone_pairs,
)
from sdrag.linkage.resolution.person_names import name_pairs
from sdrag.linkage.resolution.spellings import (
    acronym_pairs,
    shortened_pairs,
    spelling_pairs,
)
from sdrag.policy import ResolutionSection
from sdrag.policy.sections import Role
from sdrag.text.folding import fold_text

__all__ = ["Forms", "Pairs", "pool_of"]

_EXACT: frozenset[Role] = frozenset({"date", "number", "name", "exact", "phone", "age"})
"""Roles whose values are exact: not compared by spelling or meaning."""
_PROPER: frozenset[Role] = frozenset({"place", "organisation"})
"""Proper names: compared by spelling, never by meaning; one pool."""

Pairs = Iterable[tuple[int, int]]


def pool_of(type_: str, role: Role) -> str:
    """Return the name of the pool in which a type's forms are compared."""
    if role == "term":
        return type_
    return "place" if role in _PROPER else role


class Forms:
    """
    The forms of one pool, and which have been joined.

    Args:
        namesakes: Who is not one person.
    """

    def __init__(self, namesakes: Namesakes) -> None:
        self._namesakes = namesakes
        self.folded: list[str] = []
        self.forms: list[str] = []
        self.types: list[str] = []
        self.roles: list[Role] = []
        self.counts: Counter[str] = Counter()
        self.spelled: list[set[str]] = []
        self.relevances: list[dict[int, float]] = []
        self.reasons: dict[int, list[str]] = {}
        self.born: list[str] = []
        self.shared: set[int] = set()
        self._number: dict[tuple[str, str, str], int] = {}
        self._parent: list[int] = []
        self._dates: list[str] = []
        self._foes: dict[int, set[int]] = {}

    def __len__(self) -> int:
        return len(self.folded)

    def add(self, document: int, entry: Found, role: Role) -> None:
        """Note an appearance."""
        number = self._of(document, entry.form, entry.type, role)
        self.counts[entry.form] += 1
        self.spelled[number].add(entry.form)
        seen = self.relevances[number]
        seen[document] = max(seen.get(document, 0.0), entry.relevance)
        if entry.normalized and fold_text(entry.normalized):
            other = self._of(document, entry.normalized, entry.type, role)
            self.join([(number, other)], "normalized")

    def _of(self, document: int, form: str, type_: str, role: Role) -> int:
        folded = fold_text(form)
        named = role == "name"
        born, several = (
            self._namesakes.whose(document, folded) if named else ("", False)
        )
        key = (type_, folded, born if several else "")
        if key not in self._number:
            self._number[key] = len(self.folded)
            self._parent.append(len(self.folded))
            self.born.append(born)
            self._dates.append(born)
            if several:
                self.shared.add(self._number[key])
            self.folded.append(folded)
            self.forms.append(form)
            self.types.append(type_)
            self.roles.append(role)
            self.spelled.append(set())
            self.relevances.append({})
        return self._number[key]

    def parent(self, number: int) -> int:
        """Return the number that represents a form's entity."""
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def groups(self) -> dict[int, list[int]]:
        """Return the forms of each entity so far, by the one that represents it."""
        found: dict[int, list[int]] = {}
        for number in range(len(self)):
            found.setdefault(self.parent(number), []).append(number)
        return found

    def join(self, pairs: Pairs, reason: str) -> None:
        """Make each pair one entity."""
        for left, right in pairs:
            low, high = sorted((self.parent(left), self.parent(right)))
            if low == high or self._are_two(low, high):
                continue
            self._parent[high] = low
            self._dates[low] = self._dates[low] or self._dates[high]
            if high in self._foes:
                self._foes.setdefault(low, set()).update(self._foes.pop(high))
            reasons = [*self.reasons.get(low, []), *self.reasons.pop(high, []), reason]
            self.reasons[low] = list(dict.fromkeys(reasons))

    def _are_two(self, low: int, high: int) -> bool:
        """Say whether two entities so far are known to be two people."""
        dates = {self._dates[low], self._dates[high]} - {""}
        if len(dates) > 1:
            return True
        return any(self.parent(foe) == high for foe in self._foes.get(low, ()))

    def _part(self) -> None:
        """Note which forms two people are called by who met."""
        by_folded: dict[str, list[int]] = {}
        for number, folded in enumerate(self.folded):
            by_folded.setdefault(folded, []).append(number)
        for one, other in self._namesakes.met:
            for left, right in product(
                by_folded.get(one, ()), by_folded.get(other, ())
            ):
                self._foes.setdefault(self.parent(left), set()).add(right)
                self._foes.setdefault(self.parent(right), set()).add(left)

    def join_by_rules(self, settings: ResolutionSection) -> None:
        """Apply the rules that need no model."""
        self._part()
        for reason, rule, roles in _rules(settings, self.born):
            chosen = [n for n, role in enumerate(self.roles) if role in roles]
            pairs = rule([self._written(n) for n in chosen])
            self.join([(chosen[a], chosen[b]) for a, b in pairs], reason)

    def _written(self, number: int) -> str:
        """Return a form as it was written first, with its umlauts if any has them."""
        whole = sorted(form for form in self.spelled[number] if not form.isascii())
        return whole[0] if whole else self.forms[number]

    @property
    def compared_by_meaning(self) -> bool:
        """Whether the forms are descriptions or terms."""
        return not set(self.roles) & (_EXACT | _PROPER)


Rule = Callable[[Sequence[str]], Pairs]
_INEXACT: frozenset[Role] = frozenset({"place", "organisation", "term", "description"})


def _rules(
    settings: ResolutionSection, born: Sequence[str]
) -> Iterator[tuple[str, Rule, frozenset[Role]]]:
    """Yield each rule that is on, its name and the roles it is for."""
    yield "other type", _same, _INEXACT
    if settings.dates:
        yield "date", date_pairs, frozenset({"date"})
    if settings.numbers:
        yield "number", code_pairs, frozenset({"number"})
        yield "number", phone_pairs, frozenset({"phone"})
        yield "number", age_pairs, frozenset({"age"})
    if settings.names:
        # All forms of a pool of names are names, so `born` is of just these.
        yield (
            "name",
            lambda forms: name_pairs(forms, born, always=True),
            frozenset({"name"}),
        )
        yield (
            "name",
            lambda forms: name_pairs(forms, always=False),
            frozenset({"organisation"}),
        )
        yield "short form", lambda forms: shortened_pairs(_folded(forms)), _PROPER
        yield "abbreviation", acronym_pairs, _INEXACT
    threshold = settings.spelling
    if threshold is not False:
        yield (
            "spelling",
            lambda forms: spelling_pairs(_folded(forms), threshold),
            _INEXACT | {"name"},
        )


def _folded(forms: Sequence[str]) -> list[str]:
    return [fold_text(form) for form in forms]


def _same(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal forms, under whatever type of the pool."""
    seen: dict[str, int] = {}
    for number, folded in enumerate(_folded(forms)):
        if folded in seen:
            yield seen[folded], number
        seen.setdefault(folded, number)
