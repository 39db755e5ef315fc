"""
From what was found to entities: every rule in order, with the reason kept.

Forms that fold alike are one, and so is a form and what an extractor normalized it to.
The rules then join forms within a type; a chain of joins is one entity. Ids are opaque:
a keyed hash where a key is given, else a number in the order of type and form. Neither
lets anybody test a guess.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from sdrag.engine.steps import Steps, embed, replied
from sdrag.linkage.mentions import Found
from sdrag.linkage.resolution.meaning import MOST_FORMS, Matrix, meaning_pairs
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
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential, Entity

__all__ = ["Resolved", "Vectors", "resolve"]

_DATES = frozenset({"EVENT_DATE", "BIRTHDATE"})
_CODES = frozenset({"PATIENT_ID", "NON_PERSONAL_ID"})
_EXACT = _DATES | _CODES | {"NAME", "EMAIL", "PHONE_NUMBER", "AGE"}
"""Types whose values are exact: not compared by spelling or meaning."""
_PLACES = frozenset({"ADDRESS", "LOCATION", "PROVIDER"})
"""Proper names: compared by spelling, never by meaning."""
_TERMS = frozenset({"MEDICAL_CONDITION", "TREATMENT", "DEMOGRAPHIC"})

Pairs = Iterable[tuple[int, int]]
Vectors = Mapping[str, np.ndarray[tuple[int], np.dtype[np.float32]]]


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
    """

    entities: tuple[Entity, ...]
    rows: tuple[tuple[int, str, float], ...]
    reasons: Mapping[str, tuple[str, ...]]
    not_compared: tuple[str, ...] = ()
    vectors: Vectors = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Resolved({len(self.entities)} entities, {len(self.rows)} rows)"


def resolve(
    found: Sequence[Sequence[Found]],
    settings: ResolutionSection,
    key: bytes | None = None,
    known: Vectors | None = None,
) -> Steps[Resolved]:
    """
    Decide which forms are one entity.

    Args:
        found: For each document, what was found in it.
        settings: Which rules are on, and their thresholds.
        key: Makes ids that are the same in every run over any corpus.
        known: Vectors of forms that were embedded before, by the same model.

    Raises:
        SdragError: Forms were to be compared by meaning and could not be embedded.
    """
    types: dict[str, _TypeForms] = {}
    for document, entries in enumerate(found):
        for entry in entries:
            types.setdefault(entry.type, _TypeForms(entry.type)).add(document, entry)
    skipped: list[str] = []
    vectors: dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]] = {}
    for name in sorted(types):
        type_forms = types[name]
        type_forms.join_by_rules(settings)
        chosen = _to_compare(type_forms, settings)
        if len(chosen) > MOST_FORMS:
            skipped.append(name)
        elif len(chosen) > 1:
            forms = [type_forms.forms[number] for number in chosen]
            found_now = yield from _embedded(forms, known or {})
            _join_by_meaning(type_forms, settings, chosen, found_now)
            vectors.update(found_now)
    resolved = _numbered([types[name] for name in sorted(types)], key, tuple(skipped))
    return replace(resolved, vectors=vectors)


def _to_compare(type_forms: _TypeForms, settings: ResolutionSection) -> list[int]:
    """Return one form of each entity so far, where meaning is compared at all."""
    if type_forms.name in _EXACT | _PLACES or _threshold(type_forms, settings) is False:
        return []
    return sorted(
        {type_forms.parent(number) for number in range(len(type_forms.folded))}
    )


def _threshold(
    type_forms: _TypeForms, settings: ResolutionSection
) -> float | Literal[False]:
    return settings.terms if type_forms.name in _TERMS else settings.meaning


def _embedded(forms: Sequence[str], known: Vectors) -> Steps[Vectors]:
    """Return a vector for each form; only forms that are not known are embedded."""
    new = [form for form in forms if form not in known]
    outcomes = yield from embed(new)
    fresh = {
        form: replied(outcome) for form, outcome in zip(new, outcomes, strict=True)
    }
    return {form: fresh[form] if form in fresh else known[form] for form in forms}


def _join_by_meaning(
    type_forms: _TypeForms,
    settings: ResolutionSection,
    chosen: Sequence[int],
    vectors: Vectors,
) -> None:
    """Join paraphrases."""
    matrix: Matrix = np.stack([vectors[type_forms.forms[number]] for number in chosen])
    texts = [type_forms.folded[number] for number in chosen]
    pairs = meaning_pairs(texts, matrix, float(_threshold(type_forms, settings)))
    type_forms.join(((chosen[left], chosen[right]) for left, right in pairs), "meaning")


class _TypeForms:
    """The forms of one type, and which have been joined."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folded: list[str] = []
        self.forms: list[str] = []
        self.counts: Counter[str] = Counter()
        self.spelled: list[set[str]] = []
        self.relevances: list[dict[int, float]] = []
        self._number: dict[str, int] = {}
        self._parent: list[int] = []
        self.reasons: dict[int, list[str]] = {}

    def add(self, document: int, entry: Found) -> None:
        """Note an appearance."""
        number = self._of(entry.form)
        self.counts[entry.form] += 1
        self.spelled[number].add(entry.form)
        seen = self.relevances[number]
        seen[document] = max(seen.get(document, 0.0), entry.relevance)
        if entry.normalized and fold_text(entry.normalized):
            self.join([(number, self._of(entry.normalized))], "normalized")

    def _of(self, form: str) -> int:
        folded = fold_text(form)
        if folded not in self._number:
            self._number[folded] = len(self.folded)
            self._parent.append(len(self.folded))
            self.folded.append(folded)
            self.forms.append(form)
            self.spelled.append(set())
            self.relevances.append({})
        return self._number[folded]

    def parent(self, number: int) -> int:
        """Return the number that represents a form's entity."""
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def join(self, pairs: Pairs, reason: str) -> None:
        """Make each pair one entity."""
        for left, right in pairs:
            low, high = sorted((self.parent(left), self.parent(right)))
            if low == high:
                continue
            self._parent[high] = low
            reasons = [*self.reasons.get(low, []), *self.reasons.pop(high, []), reason]
            self.reasons[low] = list(dict.fromkeys(reasons))

    def join_by_rules(self, settings: ResolutionSection) -> None:
        """Apply the rules that need no model."""
        for reason, rule in self._rules(settings):
            self.join(list(rule()), reason)

    def _rules(
        self, settings: ResolutionSection
    ) -> Iterator[tuple[str, Callable[[], Pairs]]]:
        if settings.dates and self.name in _DATES:
            yield "date", lambda: date_pairs(self.forms)
        if settings.numbers and self.name in _CODES:
            yield "number", lambda: code_pairs(self.forms)
        if settings.numbers and self.name == "PHONE_NUMBER":
            yield "number", lambda: phone_pairs(self.forms)
        if settings.numbers and self.name == "AGE":
            yield "number", lambda: age_pairs(self.forms)
        if settings.names and self.name in {"NAME", "PROVIDER"}:
            yield "name", lambda: name_pairs(self.name, self.forms)
        if settings.names and self.name in _PLACES:
            yield "short form", lambda: shortened_pairs(self.folded)
        if self.name in _EXACT - {"NAME"}:
            return
        if settings.names and self.name != "NAME":
            yield "abbreviation", lambda: acronym_pairs(self.forms)
        threshold = settings.spelling
        if threshold is not False:
            yield "spelling", lambda: spelling_pairs(self.folded, threshold)


def _numbered(
    types: Sequence[_TypeForms], key: bytes | None, skipped: tuple[str, ...]
) -> Resolved:
    entities: list[tuple[Entity, tuple[str, ...], dict[int, float]]] = []
    for type_forms in types:
        members: dict[int, list[int]] = {}
        for number in range(len(type_forms.folded)):
            members.setdefault(type_forms.parent(number), []).append(number)
        for low, numbers in sorted(
            members.items(), key=lambda item: type_forms.folded[item[0]]
        ):
            entity, relevances = _entity(type_forms, numbers, len(entities), key)
            entities.append(
                (entity, tuple(type_forms.reasons.get(low, ())), relevances)
            )
    entities.sort(key=lambda item: item[0].id)
    return Resolved(
        tuple(entity for entity, _, _ in entities),
        tuple(
            (document, entity.id, relevance)
            for entity, _, relevances in entities
            for document, relevance in sorted(relevances.items())
        ),
        {entity.id: reasons for entity, reasons, _ in entities if reasons},
        skipped,
    )


def _entity(
    type_forms: _TypeForms, numbers: Sequence[int], ordinal: int, key: bytes | None
) -> tuple[Entity, dict[int, float]]:
    forms = {form for number in numbers for form in type_forms.spelled[number]}
    ordered = sorted(
        forms, key=lambda form: (-type_forms.counts[form], -len(form), form)
    )
    relevances: dict[int, float] = {}
    for number in numbers:
        for document, relevance in type_forms.relevances[number].items():
            relevances[document] = max(relevances.get(document, 0.0), relevance)
    name = f"{type_forms.folded[numbers[0]]}::{type_forms.name}"
    id_ = (
        f"e{ordinal:07d}"
        if key is None
        else hmac.digest(key, name.encode(), "sha256").hex()[:24]
    )
    return Entity(
        id_, type_forms.name, tuple(ordered), max(relevances.values())
    ), relevances
