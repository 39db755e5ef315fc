"""
Confidential objects as plain data, to be sent to a worker and made again there.

What holds text refuses to be pickled, so that none is by accident. Here it is on
purpose: the data goes to a worker in memory, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sdrag.linkage.mentions import Found
from sdrag.linkage.replacing import MaskerRecipe
from sdrag.vocabulary import Entity, Passage

__all__ = [
    "as_found",
    "as_passages",
    "as_recipe",
    "plain_found",
    "plain_passages",
    "plain_recipe",
]

Plain = tuple[Any, ...]


def plain_passages(passages: Iterable[Passage]) -> list[Plain]:
    """Return what passages hold."""
    return [
        (one.id, one.text, dict(one.metadata), one.score, one.document_id, one.frame)
        for one in passages
    ]


def as_passages(rows: Iterable[Plain]) -> list[Passage]:
    """Make the passages again."""
    return [Passage(*row) for row in rows]


def plain_found(found: Iterable[Iterable[Found]]) -> list[list[Plain]]:
    """Return what was found in some documents."""
    return [
        [(one.form, one.type, one.relevance, one.normalized) for one in row]
        for row in found
    ]


def as_found(rows: Iterable[Iterable[Plain]]) -> list[tuple[Found, ...]]:
    """Make what was found again."""
    return [tuple(Found(*one) for one in row) for row in rows]


def plain_recipe(recipe: MaskerRecipe) -> Plain:
    """Return what a masker is made of."""
    entities, *others = recipe
    return ([(e.id, e.type, e.forms, e.relevance) for e in entities], *others)


def as_recipe(plain: Plain) -> MaskerRecipe:
    """Make a masker's recipe again."""
    entities, style, key, given, order, bearers, secret = plain
    made = tuple(Entity(*one) for one in entities)
    return made, style, key, given, order, bearers, secret
