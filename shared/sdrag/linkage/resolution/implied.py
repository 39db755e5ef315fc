"""
What a form says without being written for it: links at one remove.

"Ashmere General Hospital" says Ashmere, and "9 January 2023" says January 2023. So a
document that holds the one also holds the other, as far as somebody named it in its own
right elsewhere. Nothing is joined: the town and its hospital stay two entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sdrag.linkage.entity_schema import Schema
from sdrag.text.dates import read_date
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential

__all__ = ["Named", "Row", "implied_rows"]

Row = tuple[int, str, float]
"""Number of the document, id of the entity, relevance."""


@dataclass(frozen=True, slots=True, repr=False)
class Named(Confidential):
    """A form where it is written: the document's number, its type and its entity."""

    document: int
    form: str
    type: str
    entity: str

    def __repr__(self) -> str:
        return f"Named(document={self.document}, type={self.type!r})"


_WORD = re.compile(r"\w+")
_SHORTEST = 4
"""Shorter names are words of other meanings too often."""
_PROPER = frozenset({"place", "organisation"})
_SAYING = _PROPER | {"description", "term"}


def implied_rows(
    rows: Sequence[Row], named: Sequence[Named], schema: Schema
) -> tuple[Row, ...]:
    """
    Return the rows with those that others imply, ascending by entity and document.

    Args:
        rows: Where each entity is; none is taken away.
        named: Every form where it is written.
        schema: For the roles of their types.
    """
    relevance: dict[str, float] = {}
    for _, entity, value in rows:
        relevance[entity] = max(relevance.get(entity, 0.0), value)
    found = {(entity, document): value for document, entity, value in rows}
    for one, other in (*_places(named, schema), *_months(named, schema)):
        value = min(found[one.entity, one.document], relevance[other])
        found.setdefault((other, one.document), value)
    return tuple((d, entity, value) for (entity, d), value in sorted(found.items()))


def _places(named: Sequence[Named], schema: Schema) -> Iterator[tuple[Named, str]]:
    """Yield a form, and an entity whose proper name is a part of it."""
    entities: dict[tuple[str, ...], str] = {}
    sizes: dict[str, set[int]] = {}
    for one in named:
        proper = one.form[:1].isupper() and len(one.form) >= _SHORTEST
        words = _words(one.form)
        if words and proper and schema.role(one.type) in _PROPER:
            entities[words] = one.entity
            sizes.setdefault(words[0], set()).add(len(words))
    for one in named:
        words = _words(one.form) if schema.role(one.type) in _SAYING else ()
        for start, word in enumerate(words):
            for size in sorted(sizes.get(word, ())):
                entity = entities.get(words[start : start + size], one.entity)
                if entity != one.entity:
                    yield one, entity


def _words(form: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(fold_text(form)))


def _months(named: Sequence[Named], schema: Schema) -> Iterator[tuple[Named, str]]:
    """Yield a date, and the month that it is in, where that is named alone."""
    dates = [
        (date, one)
        for one in named
        if schema.role(one.type) == "date"
        if (date := read_date(one.form)) is not None and date.year
    ]
    months = {date[:2]: one.entity for date, one in dates if not date.day}
    for date, one in dates:
        if date.day and date[:2] in months and months[date[:2]] != one.entity:
            yield one, months[date[:2]]
