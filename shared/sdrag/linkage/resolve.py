"""
From what was found to entities: every rule in order, with the reason kept.

The thesis names normalization across forms as its weak spot (section 6.2). Each rule is
deterministic, says its name in the report, and can be switched off in the policy. Forms
that fold alike are one, and so is a form and what an extractor normalized it to. The
rules then join forms within a pool: all types of one role, but terms by type, for a
disease and its treatment are near and two. A chain of joins is one entity, of the type
that weighs most. A name that several people bear is a form for each of them, and what
is known to be two people is never joined.

Ids are opaque: a keyed hash where a key is given, else a number in the order of type
and form. The form that names an entity is its longest: that depends neither on which
document comes first nor on which form is the commonest.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal

import numpy as np

from sdrag.effects.steps import Steps
from sdrag.linkage.indirect import Row, described_rows, implied_rows
from sdrag.linkage.meaning import (
    MOST_FORMS,
    Matrix,
    Vectors,
    embed_texts,
    meaning_pairs,
)
from sdrag.linkage.mentions import Occurrence
from sdrag.linkage.names import name_pairs
from sdrag.linkage.namesakes import UNKNOWN, Namesakes
from sdrag.linkage.schema import Schema
from sdrag.linkage.spellings import acronym_pairs, shortened_pairs, spelling_pairs
from sdrag.linkage.values import age_pairs, code_pairs, date_pairs, phone_pairs
from sdrag.policy import ResolutionSection
from sdrag.policy.sections import Role
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential, Entity

__all__ = ["Resolved", "resolve"]

_PROPER: frozenset[Role] = frozenset({"place", "organisation"})
"""Proper names: compared by spelling, never by meaning; one pool."""
_INEXACT: frozenset[Role] = _PROPER | {"term", "description"}

_Pairs = Iterable[tuple[int, int]]


@dataclass(frozen=True, slots=True, repr=False)
class Resolved(Confidential):
    """
    The entities of a corpus.

    Args:
        entities: Ascending by id, the commonest form first.
        rows: Number of the document, id of the entity, relevance; one for each pair.
        reasons: For each entity of several forms, the rules that joined them.
        not_compared: Types with too many forms to be compared by meaning.
        vectors: Of the forms that were compared by meaning.
        namesakes: By number of a document and folded name, the id of its bearer, where
            entities share the name.
    """

    entities: tuple[Entity, ...]
    rows: tuple[Row, ...]
    reasons: Mapping[str, tuple[str, ...]]
    not_compared: tuple[str, ...] = ()
    vectors: Vectors = field(default_factory=dict)
    namesakes: Mapping[tuple[int, str], str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Resolved({len(self.entities)} entities, {len(self.rows)} rows)"


def resolve(
    occurrences: Sequence[Sequence[Occurrence]],
    settings: ResolutionSection,
    schema: Schema,
    texts: Sequence[str] = (),
    *,
    key: bytes | None = None,
    known: Vectors | None = None,
) -> Steps[Resolved]:
    """
    Decide which forms are one entity.

    Args:
        occurrences: For each document, what was found in it.
        settings: Which rules are on, and their thresholds.
        schema: The weights and the roles of the types.
        texts: Of the documents; without them descriptions have no context.
        key: Makes ids that are the same in every run over any corpus.
        known: Vectors of forms that were embedded before, by the same model.

    Raises:
        SdragError: Forms were to be compared by meaning and could not be embedded.
    """
    namesakes = Namesakes.of(texts, occurrences, schema)
    pools: dict[str, _Forms] = {}
    for document, entries in enumerate(occurrences):
        for entry in entries:
            pool = pools.setdefault(schema.pool(entry.type), _Forms(namesakes))
            pool.add(document, entry, schema.role(entry.type))
    skipped: set[str] = set()
    vectors: dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]] = {}
    for name in sorted(pools):
        forms = pools[name]
        forms.join_by_rules(settings)
        chosen = _comparable(forms, settings)
        if len(chosen) > MOST_FORMS:
            skipped.update(forms.types)
        elif len(chosen) > 1:
            wanted = [forms.forms[number] for number in chosen]
            vectors |= yield from embed_texts(wanted, known or {})
            _join_by_meaning(forms, settings, chosen, vectors)
    resolved = _numbered(list(pools.values()), key, schema)
    if settings.implied:
        rows = implied_rows(resolved.rows, occurrences, resolved.entities, schema)
        resolved = replace(resolved, rows=rows)
    if texts and settings.meaning is not False and settings.context is not False:
        seen = {**(known or {}), **vectors}
        rows, more, complete = yield from described_rows(
            resolved.rows, resolved.entities, texts, settings, schema, seen
        )
        resolved = replace(resolved, rows=rows)
        vectors |= more
        skipped |= set() if complete else {"descriptions in context"}
    return replace(resolved, vectors=vectors, not_compared=tuple(sorted(skipped)))


class _Forms:
    """The forms of one pool, and which have been joined."""

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
        self._apart: dict[int, set[int]] = {}

    def add(self, document: int, entry: Occurrence, role: Role) -> None:
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
        folded, born, several = fold_text(form), "", False
        if role == "name":
            born, several = self._namesakes.whose(document, folded)
        key = (type_, folded, born if several else "")
        if key not in self._number:
            number = self._number[key] = len(self.folded)
            self._parent.append(number)
            self.born.append(born)
            self._dates.append(born)
            if several:
                self.shared.add(number)
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
        groups: dict[int, list[int]] = {}
        for number in range(len(self.folded)):
            groups.setdefault(self.parent(number), []).append(number)
        return groups

    def join(self, pairs: _Pairs, reason: str) -> None:
        """Make each pair one entity, unless they are known to be two people."""
        for left, right in pairs:
            low, high = sorted((self.parent(left), self.parent(right)))
            if low == high or self._are_two(low, high):
                continue
            self._parent[high] = low
            self._dates[low] = self._dates[low] or self._dates[high]
            if high in self._apart:
                self._apart.setdefault(low, set()).update(self._apart.pop(high))
            reasons = [*self.reasons.get(low, []), *self.reasons.pop(high, []), reason]
            self.reasons[low] = list(dict.fromkeys(reasons))

    def _are_two(self, low: int, high: int) -> bool:
        if len({self._dates[low], self._dates[high]} - {""}) > 1:
            return True
        return any(self.parent(other) == high for other in self._apart.get(low, ()))

    def join_by_rules(self, settings: ResolutionSection) -> None:
        """Apply the rules that need no model."""
        by_folded: dict[str, list[int]] = {}
        for number, folded in enumerate(self.folded):
            by_folded.setdefault(folded, []).append(number)
        for pair in self._namesakes.met:
            for left, right in product(*(by_folded.get(name, ()) for name in pair)):
                self._apart.setdefault(self.parent(left), set()).add(right)
                self._apart.setdefault(self.parent(right), set()).add(left)
        for reason, rule, roles in _rules(settings, self.born):
            chosen = [n for n, role in enumerate(self.roles) if role in roles]
            pairs = rule([self._written(n) for n in chosen])
            self.join([(chosen[a], chosen[b]) for a, b in pairs], reason)

    def _written(self, number: int) -> str:
        """Return a form as it was written first, with its umlauts if any has them."""
        whole = sorted(form for form in self.spelled[number] if not form.isascii())
        return whole[0] if whole else self.forms[number]


_Rule = Callable[[Sequence[str]], _Pairs]


def _rules(
    settings: ResolutionSection, born: Sequence[str]
) -> Iterator[tuple[str, _Rule, frozenset[Role]]]:
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
        yield "name", lambda f: name_pairs(f, born, always=True), frozenset({"name"})
        yield "name", lambda f: name_pairs(f, always=False), frozenset({"organisation"})
        yield "short form", lambda f: shortened_pairs(_folded(f)), _PROPER
        yield "abbreviation", acronym_pairs, _INEXACT
    least = settings.spelling
    if least is not False:
        alike: frozenset[Role] = _INEXACT | {"name"}
        yield "spelling", lambda f: spelling_pairs(_folded(f), least), alike


def _folded(forms: Sequence[str]) -> list[str]:
    return [fold_text(form) for form in forms]


def _same(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal forms, under whatever type of the pool."""
    seen: dict[str, int] = {}
    for number, folded in enumerate(_folded(forms)):
        if folded in seen:
            yield seen[folded], number
        seen.setdefault(folded, number)


def _comparable(forms: _Forms, settings: ResolutionSection) -> list[int]:
    """Return one form of each entity so far, where meaning is compared at all."""
    compared = set(forms.roles) <= {"term", "description"}
    if not compared or _threshold(forms, settings) is False:
        return []
    return sorted(forms.groups())


def _threshold(forms: _Forms, settings: ResolutionSection) -> float | Literal[False]:
    return settings.terms if "term" in forms.roles else settings.meaning


def _join_by_meaning(
    forms: _Forms, settings: ResolutionSection, chosen: Sequence[int], vectors: Vectors
) -> None:
    """Join paraphrases."""
    matrix: Matrix = np.stack([vectors[forms.forms[number]] for number in chosen])
    folded = [forms.folded[number] for number in chosen]
    pairs = meaning_pairs(folded, matrix, float(_threshold(forms, settings)))
    forms.join(((chosen[left], chosen[right]) for left, right in pairs), "meaning")


@dataclass(frozen=True, slots=True, repr=False)
class _Merged(Confidential):
    """An entity before it has its id; `name` is the form that it is ordered by."""

    name: str
    entity: Entity
    reasons: tuple[str, ...]
    relevances: Mapping[int, float]
    shared: Sequence[tuple[int, str]]


def _numbered(pools: Sequence[_Forms], key: bytes | None, schema: Schema) -> Resolved:
    """Return the entities of all pools with their ids, in the order of these."""
    merged = [
        _merged(forms, low, numbers, schema)
        for forms in pools
        for low, numbers in forms.groups().items()
    ]
    merged.sort(key=lambda item: (item.entity.type, item.name))
    named = [
        replace(item, entity=replace(item.entity, id=_id(item, ordinal, key)))
        for ordinal, item in enumerate(merged)
    ]
    named.sort(key=lambda item: item.entity.id)
    return Resolved(
        tuple(item.entity for item in named),
        tuple(
            (document, item.entity.id, relevance)
            for item in named
            for document, relevance in sorted(item.relevances.items())
        ),
        {item.entity.id: item.reasons for item in named if item.reasons},
        namesakes={place: item.entity.id for item in named for place in item.shared},
    )


def _merged(forms: _Forms, low: int, numbers: Sequence[int], schema: Schema) -> _Merged:
    spelled = {form for number in numbers for form in forms.spelled[number]}
    ordered = sorted(spelled, key=lambda form: (-forms.counts[form], -len(form), form))
    relevances: dict[int, float] = {}
    for number in numbers:
        for document, relevance in forms.relevances[number].items():
            relevances[document] = max(relevances.get(document, 0.0), relevance)
    types = {forms.types[number] for number in numbers}
    type_ = min(types, key=lambda name: (-schema.weight(name), name))
    entity = Entity("-", type_, tuple(ordered), max(relevances.values()))
    name = min((forms.folded[n] for n in numbers), key=lambda form: (-len(form), form))
    shared = [n for n in numbers if n in forms.shared and forms.born[n] != UNKNOWN]
    if shared:
        name = f"{name}\0{forms.born[shared[0]]}"
    places = [(d, forms.folded[n]) for n in shared for d in forms.relevances[n]]
    return _Merged(name, entity, tuple(forms.reasons.get(low, ())), relevances, places)


def _id(item: _Merged, ordinal: int, key: bytes | None) -> str:
    if key is None:
        return f"e{ordinal:07d}"
    name = f"{item.name}::{item.entity.type}"
    return hmac.digest(key, name.encode(), "sha256").hex()[:24]
