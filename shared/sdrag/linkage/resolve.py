"""
From what was found to entities: every rule in order, with the reason kept.

The thesis names normalization across forms as its weak spot (section 6.2). Each rule is
deterministic, says its name in the report, and can be switched off in the policy. Forms
that fold alike are one, and so is a form and what an extractor normalized it to. The
rules then join forms within a pool: all types of one role, but terms by type, for a
disease and its treatment are near and two. A chain of joins is one entity, of the type
that weighs most.

Ids are opaque: a keyed hash where a key is given, else a number in the order of type
and form. The form that names an entity is its longest: that depends neither on which
document comes first nor on which form is the commonest.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from sdrag.effects.steps import Steps
from sdrag.linkage.meaning import (
    MOST_FORMS,
    Row,
    Vectors,
    described_rows,
    embed_texts,
    meaning_pairs,
)
from sdrag.linkage.mentions import Occurrence
from sdrag.linkage.pairs import (
    acronym_pairs,
    age_pairs,
    code_pairs,
    date_pairs,
    name_pairs,
    phone_pairs,
    shortened_pairs,
)
from sdrag.linkage.schema import Schema
from sdrag.policy import ResolutionSection
from sdrag.policy.sections import Role
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential, Entity

_PROPER: frozenset[Role] = frozenset({"place", "organisation"})
"""Proper names: compared by spelling, never by meaning; one pool."""
_TOLD: frozenset[Role] = frozenset({"term", "description"})
"""What is told in words, and compared by meaning."""

_Rule = Callable[[Sequence[str]], Iterable[tuple[int, int]]]


@dataclass(frozen=True, slots=True, repr=False)
class Resolved(Confidential):
    """
    The entities of a corpus.

    Args:
        rows: One for each pair of document and entity.
        reasons: For each entity of several forms, the rules that joined them.
        not_compared: Types with too many forms to be compared by meaning.
    """

    entities: tuple[Entity, ...]
    rows: tuple[Row, ...]
    reasons: Mapping[str, tuple[str, ...]]
    not_compared: tuple[str, ...] = ()
    vectors: Vectors = field(default_factory=dict)


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

    `texts`: of the documents; without them descriptions have no context.
    """
    pools: dict[str, _Pool] = {}
    for document, entries in enumerate(occurrences):
        for entry in entries:
            pool = pools.setdefault(schema.pool(entry.type), _Pool())
            pool.add(document, entry, schema.role(entry.type))
    skipped: set[str] = set()
    vectors: dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]] = {}
    for _, pool in sorted(pools.items()):
        pool.join_by_rules(settings)
        threshold = pool.threshold(settings)
        chosen = [] if threshold is False else sorted(pool.groups())
        if len(chosen) > MOST_FORMS:
            skipped |= {type_ for form in pool.forms for type_ in form.types}
        elif len(chosen) > 1:
            wanted = [pool.forms[number].written for number in chosen]
            vectors |= yield from embed_texts(wanted, known or {})
            matrix = np.stack([vectors[form] for form in wanted])
            pairs = meaning_pairs([*map(fold_text, wanted)], matrix, float(threshold))
            pool.join(((chosen[a], chosen[b]) for a, b in pairs), "meaning")
    resolved = _give_ids(pools.values(), key, schema)
    if texts and settings.meaning is not False and settings.context is not False:
        seen = {**(known or {}), **vectors}
        rows, more, complete = yield from described_rows(
            resolved.rows, resolved.entities, texts, settings, schema, seen
        )
        resolved = replace(resolved, rows=rows)
        vectors |= more
        skipped |= set() if complete else {"descriptions in context"}
    return replace(resolved, vectors=vectors, not_compared=tuple(sorted(skipped)))


@dataclass(slots=True)
class _Form:
    """All that folds alike in a pool: how it is written, as what, and where."""

    first: str
    spelled: Counter[str] = field(default_factory=Counter)
    types: set[str] = field(default_factory=set)
    roles: set[Role] = field(default_factory=set)
    relevances: dict[int, float] = field(default_factory=dict)

    @property
    def written(self) -> str:
        """As it was written first, with its umlauts if any has them."""
        whole = sorted(form for form in self.spelled if not form.isascii())
        return [*whole, self.first][0]


class _Pool:
    """The forms of some types, and which have been joined."""

    def __init__(self) -> None:
        self.forms: list[_Form] = []
        self.reasons: dict[int, list[str]] = {}
        self._number: dict[str, int] = {}
        self._parent: list[int] = []

    def add(self, document: int, entry: Occurrence, role: Role) -> None:
        number = self._number_of(entry.form, entry.type, role)
        form = self.forms[number]
        form.spelled[entry.form] += 1
        before = form.relevances.get(document, 0.0)
        form.relevances[document] = max(before, entry.relevance)
        if entry.normalized and fold_text(entry.normalized):
            other = self._number_of(entry.normalized, entry.type, role)
            self.join([(number, other)], "normalized")

    def _number_of(self, form: str, type_: str, role: Role) -> int:
        number = self._number.setdefault(fold_text(form), len(self.forms))
        if number == len(self.forms):
            self.forms.append(_Form(form))
            self._parent.append(number)
        self.forms[number].types.add(type_)
        self.forms[number].roles.add(role)
        return number

    def _root(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def groups(self) -> dict[int, list[int]]:
        """Return the forms of each entity so far, by the first of them."""
        groups: dict[int, list[int]] = {}
        for number in range(len(self.forms)):
            groups.setdefault(self._root(number), []).append(number)
        return groups

    def join(self, pairs: Iterable[tuple[int, int]], reason: str) -> None:
        for pair in pairs:
            low, high = sorted(map(self._root, pair))
            if low != high:
                self._parent[high] = low
                reasons = (*self.reasons.get(low, ()), *self.reasons.pop(high, ()))
                self.reasons[low] = list(dict.fromkeys((*reasons, reason)))

    def join_by_rules(self, settings: ResolutionSection) -> None:
        for reason, rule, roles in _rules(settings):
            chosen = [n for n, form in enumerate(self.forms) if form.roles & roles]
            pairs = rule([self.forms[number].written for number in chosen])
            self.join([(chosen[a], chosen[b]) for a, b in pairs], reason)

    def threshold(self, settings: ResolutionSection) -> float | Literal[False]:
        """Return from which similarity on forms are one, where meaning is compared."""
        roles = {role for form in self.forms for role in form.roles}
        if not roles <= _TOLD:
            return False
        return settings.terms if "term" in roles else settings.meaning


def _rules(
    settings: ResolutionSection,
) -> Iterator[tuple[str, _Rule, frozenset[Role]]]:
    """Yield each rule that is on, its name and the roles it is for."""
    if settings.dates:
        yield "date", date_pairs, frozenset({"date"})
    if settings.numbers:
        yield "number", code_pairs, frozenset({"number"})
        yield "number", phone_pairs, frozenset({"phone"})
        yield "number", age_pairs, frozenset({"age"})
    if settings.names:
        yield "name", lambda f: name_pairs(f, always=True), frozenset({"name"})
        yield "name", lambda f: name_pairs(f, always=False), frozenset({"organisation"})
        yield "short form", shortened_pairs, _PROPER
        yield "abbreviation", acronym_pairs, _PROPER | _TOLD


@dataclass(frozen=True, slots=True, repr=False)
class _Merged(Confidential):
    """An entity before it has its id; `name` is the form that it is ordered by."""

    name: str
    entity: Entity
    reasons: tuple[str, ...]
    relevances: Mapping[int, float]


def _give_ids(pools: Iterable[_Pool], key: bytes | None, schema: Schema) -> Resolved:
    """Return the entities of all pools with their ids, in the order of these."""
    merged = [
        _merge([pool.forms[n] for n in numbers], pool.reasons.get(low, ()), schema)
        for pool in pools
        for low, numbers in pool.groups().items()
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
    )


def _merge(forms: Sequence[_Form], reasons: Iterable[str], schema: Schema) -> _Merged:
    spelled: Counter[str] = Counter()
    relevances: dict[int, float] = {}
    for form in forms:
        spelled += form.spelled
        for document, relevance in form.relevances.items():
            relevances[document] = max(relevances.get(document, 0.0), relevance)
    ordered = sorted(spelled, key=lambda form: (-spelled[form], -len(form), form))
    types = {type_ for form in forms for type_ in form.types}
    type_ = min(types, key=lambda name: (-schema.weight(name), name))
    names = (fold_text(form.first) for form in forms)
    name = min(names, key=lambda form: (-len(form), form))
    entity = Entity("-", type_, tuple(ordered), max(relevances.values()))
    return _Merged(name, entity, tuple(reasons), relevances)


def _id(item: _Merged, ordinal: int, key: bytes | None) -> str:
    if key is None:
        return f"e{ordinal:07d}"
    name = f"{item.name}::{item.entity.type}"
    return hmac.digest(key, name.encode("utf-8", "surrogatepass"), "sha256").hex()[:24]
