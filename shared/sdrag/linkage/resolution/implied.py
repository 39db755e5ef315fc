"""
What a form says without being written for it: links at one remove.

"Ashmere General Hospital" says Ashmere, and "9 January 2023" says January 2023. So a
document that holds the one also holds the other, as far as somebody named it in its own
right elsewhere. Nothing is joined: the town and its hospital stay two entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from sdrag.linkage.entity_schema import Schema
from sdrag.text.dates import read_date
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Entity

__all__ = ["Row", "implied_rows"]

Row = tuple[int, str, float]
"""Number of the document, id of the entity, relevance."""

_WORD = re.compile(r"\w+")
_SHORTEST = 4
"""Shorter names are words of other meanings too often."""
_PROPER = frozenset({"place", "organisation"})
_SAYING = _PROPER | {"description", "term"}


def implied_rows(
    entities: Sequence[Entity], rows: Sequence[Row], schema: Schema
) -> tuple[Row, ...]:
    """
    Return the rows with those that others imply, ascending by entity and document.

    Args:
        entities: Of the corpus.
        rows: Where each is; none is taken away.
        schema: For the roles of their types.
    """
    said = _said(entities, schema)
    relevance = {entity.id: entity.relevance for entity in entities}
    found = {(document, entity): value for document, entity, value in rows}
    for document, entity, value in rows:
        for other in said.get(entity, ()):
            found.setdefault((document, other), min(value, relevance[other]))
    ordered = sorted(found.items(), key=lambda item: (item[0][1], item[0][0]))
    return tuple((document, entity, value) for (document, entity), value in ordered)


def _said(entities: Sequence[Entity], schema: Schema) -> Mapping[str, set[str]]:
    """Return, for an entity's id, the ids of the entities that it says."""
    said: dict[str, set[str]] = {}
    for entity, other in (*_places(entities, schema), *_months(entities, schema)):
        if entity != other:
            said.setdefault(entity, set()).add(other)
    return said


def _places(entities: Sequence[Entity], schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield an entity and one whose proper name is a part of its own form."""
    named: dict[str, list[tuple[list[str], str]]] = {}
    for form, id_ in _forms(entities, schema, _PROPER):
        words = _words(form)
        if words and form[:1].isupper() and len(form) >= _SHORTEST:
            named.setdefault(words[0], []).append((words, id_))
    for form, id_ in _forms(entities, schema, _SAYING):
        words = _words(form)
        for start, word in enumerate(words):
            for name, other in named.get(word, ()):
                if words[start : start + len(name)] == name:
                    yield id_, other


def _forms(
    entities: Sequence[Entity], schema: Schema, roles: AbstractSet[str]
) -> Iterator[tuple[str, str]]:
    """Yield each form of the entities of some roles, and the entity's id."""
    for entity in entities:
        if schema.role(entity.type) in roles:
            yield from ((form, entity.id) for form in entity.forms)


def _words(form: str) -> list[str]:
    return _WORD.findall(fold_text(form))


def _months(entities: Sequence[Entity], schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield a date and the month that it is in, where that is named alone."""
    dates = [
        (date, entity.id)
        for entity in entities
        if schema.role(entity.type) == "date"
        for form in entity.forms
        if (date := read_date(form)) is not None and date.year
    ]
    months = {date[:2]: id_ for date, id_ in dates if not date.day}
    for date, id_ in dates:
        if date.day and date[:2] in months:
            yield id_, months[date[:2]]
