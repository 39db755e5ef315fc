"""
From what was found to entities: every rule in order, with the reason kept.

Forms that fold alike are one, and so is a form and what an extractor normalized it to.
The rules then join forms within a pool of types; a chain of joins is one entity, of the
type that weighs most. Ids are opaque: a keyed hash where a key is given, else a number
in the order of type and form. Neither lets anybody test a guess. The form that names an
entity is its longest: that depends neither on which document comes first nor on which
form is the commonest.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from sdrag.effects.steps import Steps, embed, replied
from sdrag.linkage.entity_schema import WEIGHTS, Schema, weight_of
from sdrag.linkage.mentions import Found
from sdrag.linkage.resolution.forms import Forms, pool_of
from sdrag.linkage.resolution.implied import Named, Row, implied_rows
from sdrag.linkage.resolution.in_other_words import (
    MOST_DESCRIPTIONS,
    Description,
    Vectors,
    said_elsewhere,
)
from sdrag.linkage.resolution.meaning import MOST_FORMS, Matrix, meaning_pairs
from sdrag.linkage.resolution.namesakes import UNKNOWN, Namesakes
from sdrag.policy import ResolutionSection
from sdrag.text.folding import fold, fold_text
from sdrag.vocabulary import Confidential, Entity

__all__ = ["Resolved", "Vectors", "resolve"]


_WORDS = 3
"""A form of fewer words is a label or a count, and describes nothing."""
_Told = tuple[int, Entity, float]
_INSURANCE = Schema(WEIGHTS, {})


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
    found: Sequence[Sequence[Found]],
    settings: ResolutionSection,
    key: bytes | None = None,
    known: Vectors | None = None,
    schema: Schema = _INSURANCE,
    texts: Sequence[str] = (),
) -> Steps[Resolved]:
    """
    Decide which forms are one entity.

    Args:
        found: For each document, what was found in it.
        settings: Which rules are on, and their thresholds.
        key: Makes ids that are the same in every run over any corpus.
        known: Vectors of forms that were embedded before, by the same model.
        schema: The weights and the roles of the types.
        texts: Of the documents; without them descriptions have no context.

    Raises:
        SdragError: Forms were to be compared by meaning and could not be embedded.
    """
    namesakes = Namesakes.of(texts, found, schema)
    pools = _pools(found, schema, namesakes)
    skipped: set[str] = set()
    vectors: dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]] = {}
    for name in sorted(pools):
        forms = pools[name]
        forms.join_by_rules(settings)
        chosen = _to_compare(forms, settings)
        if len(chosen) > MOST_FORMS:
            skipped.update(forms.types)
        elif len(chosen) > 1:
            new = [forms.forms[number] for number in chosen]
            found_now = yield from _embedded(new, known or {})
            _join_by_meaning(forms, settings, chosen, found_now)
            vectors.update(found_now)
    resolved = _numbered(list(pools.values()), key, schema)
    if settings.implied:
        rows = implied_rows(resolved.rows, _named(found, resolved, schema), schema)
        resolved = replace(resolved, rows=rows)
    telling = _telling(resolved, settings, schema) if texts else []
    if len(telling) > MOST_DESCRIPTIONS:
        skipped.add("descriptions in context")
    elif len(telling) > 1:
        seen = {**(known or {}), **vectors}
        described, contexts = yield from _described(telling, texts, seen)
        said = said_elsewhere(described, contexts, float(settings.context))
        resolved = replace(resolved, rows=_with(resolved.rows, said))
        vectors.update(contexts)
    return replace(resolved, vectors=vectors, not_compared=tuple(sorted(skipped)))


def _pools(
    found: Sequence[Sequence[Found]], schema: Schema, namesakes: Namesakes
) -> dict[str, Forms]:
    """Return what was found by the pools in which it is compared."""
    pools: dict[str, Forms] = {}
    for document, entries in enumerate(found):
        for entry in entries:
            pool = pools.setdefault(_pool(entry.type, schema), Forms(namesakes))
            pool.add(document, entry, schema.role(entry.type))
    return pools


def _pool(type_: str, schema: Schema) -> str:
    return type_ if type_ in schema.apart else pool_of(type_, schema.role(type_))


def _named(
    found: Sequence[Sequence[Found]], resolved: Resolved, schema: Schema
) -> list[Named]:
    """Return every form where it is written, with the entity that it is of."""
    entity_of = {
        (_pool(entity.type, schema), form): entity.id
        for entity in resolved.entities
        for form in entity.forms
    }
    return [
        Named(document, entry.form, entry.type, entity_of[pool, entry.form])
        for document, entries in enumerate(found)
        for entry in entries
        for pool in (_pool(entry.type, schema),)
    ]


def _to_compare(forms: Forms, settings: ResolutionSection) -> list[int]:
    """Return one form of each entity so far, where meaning is compared at all."""
    if not forms.compared_by_meaning or _threshold(forms, settings) is False:
        return []
    return sorted(forms.groups())


def _threshold(forms: Forms, settings: ResolutionSection) -> float | Literal[False]:
    return settings.terms if "term" in forms.roles else settings.meaning


def _embedded(forms: Sequence[str], known: Vectors) -> Steps[Vectors]:
    """Return a vector for each form; only forms that are not known are embedded."""
    new = [form for form in dict.fromkeys(forms) if form not in known]
    outcomes = yield from embed(new)
    fresh = {
        form: replied(outcome) for form, outcome in zip(new, outcomes, strict=True)
    }
    return {form: fresh[form] if form in fresh else known[form] for form in forms}


def _join_by_meaning(
    forms: Forms,
    settings: ResolutionSection,
    chosen: Sequence[int],
    vectors: Vectors,
) -> None:
    """Join paraphrases."""
    matrix: Matrix = np.stack([vectors[forms.forms[number]] for number in chosen])
    folded = [forms.folded[number] for number in chosen]
    pairs = meaning_pairs(folded, matrix, float(_threshold(forms, settings)))
    forms.join(((chosen[left], chosen[right]) for left, right in pairs), "meaning")


def _telling(
    resolved: Resolved, settings: ResolutionSection, schema: Schema
) -> list[_Told]:
    """Return the rows of descriptions to compare in context, with how telling."""
    if settings.meaning is False or settings.context is False:
        return []
    entities = {
        entity.id: entity
        for entity in resolved.entities
        if schema.role(entity.type) == "description"
        and entity.relevance >= settings.telling
    }
    return [
        (document, entity, relevance * weight_of(entity.type, schema))
        for document, id_, relevance in resolved.rows
        if (entity := entities.get(id_)) is not None
    ]


def _described(
    rows: Sequence[_Told], texts: Sequence[str], known: Vectors
) -> Steps[tuple[list[Description], Vectors]]:
    """Return descriptions where they are written, and the vectors of their contexts."""
    folded = {document: fold(texts[document]) for document, _, _ in rows}
    descriptions = [
        Description.of(entity.id, document, telling, form, texts[document])
        for document, entity, telling in rows
        for form in entity.forms
        if len(form.split()) >= _WORDS and any(folded[document].find(fold_text(form)))
    ]
    contexts = [text for description in descriptions for text in description.context]
    vectors = yield from _embedded(contexts, known)
    return descriptions, vectors


def _with(rows: Sequence[Row], said: Iterable[tuple[str, int]]) -> tuple[Row, ...]:
    """Return the rows with those of entities that other documents speak of."""
    found = {(entity, document): relevance for document, entity, relevance in rows}
    relevances: dict[str, float] = {}
    for _, entity, relevance in rows:
        relevances[entity] = max(relevances.get(entity, 0.0), relevance)
    for entity, document in said:
        found.setdefault((entity, document), relevances[entity])
    return tuple((d, entity, value) for (entity, d), value in sorted(found.items()))


def _numbered(pools: Sequence[Forms], key: bytes | None, schema: Schema) -> Resolved:
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


@dataclass(frozen=True, slots=True, repr=False)
class _Merged(Confidential):
    """An entity before it has its id; `name` is the form that it is ordered by."""

    name: str
    entity: Entity
    reasons: tuple[str, ...]
    relevances: Mapping[int, float]
    shared: Sequence[tuple[int, str]]


def _merged(forms: Forms, low: int, numbers: Sequence[int], schema: Schema) -> _Merged:
    spelled = {form for number in numbers for form in forms.spelled[number]}
    ordered = sorted(spelled, key=lambda form: (-forms.counts[form], -len(form), form))
    relevances: dict[int, float] = {}
    for number in numbers:
        for document, relevance in forms.relevances[number].items():
            relevances[document] = max(relevances.get(document, 0.0), relevance)
    types = {forms.types[number] for number in numbers}
    type_ = min(types, key=lambda name: (-weight_of(name, schema), name))
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
