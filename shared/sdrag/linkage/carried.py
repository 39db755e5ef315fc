"""
What one plan hands on to the next, so that nothing that was masked comes back.

What was masked is in an index without its values, or under its pseudonyms. So a later
plan masks every form that an earlier one masked, whatever its type is by now, and
whether or not it is still in the corpus. Forms keep their pseudonyms, ids their
aliases, and a text that a model rewrote is not rewritten again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential, Entity

__all__ = ["Carried", "with_carried"]


@dataclass(frozen=True, slots=True, repr=False)
class Carried(Confidential):
    """
    What stays as an earlier plan made it.

    Args:
        entities: What was masked, with every form that it was masked under.
        pseudonyms: By folded form, the first ones first.
        rewritten: By text with labels, what a model made of it.
        secret: What aliases of ids were made with; none where nothing was masked yet.
    """

    entities: tuple[Entity, ...] = ()
    pseudonyms: Mapping[str, str] = field(default_factory=dict)
    rewritten: Mapping[str, str] = field(default_factory=dict)
    secret: bytes | None = None

    def __repr__(self) -> str:
        return f"Carried({len(self.entities)} entities)"


def with_carried(
    masked: Sequence[Entity], carried: Carried, taken: Iterable[str]
) -> tuple[Entity, ...]:
    """
    Return what a plan masks, and what an earlier one did that is not among it.

    Args:
        masked: What the plan masks; of these, ids and types are kept.
        carried: What was masked before.
        taken: Ids of all entities of the corpus; no other entity may have one.

    Returns:
        Ascending by id. A form that is no longer found is one more form of the entity
        that shares another one, else an entity by itself.
    """
    made = {entity.id: entity for entity in masked}
    owner = {form: e.id for e in reversed(masked) for form in _folded([e])}
    used = {*taken, *made}
    for entity in carried.entities:
        left = tuple(form for form in entity.forms if fold_text(form) not in owner)
        if not left:
            continue
        shared = sorted(owner[form] for form in _folded([entity]) if form in owner)
        id_ = shared[0] if shared else _free(entity.id, used)
        held = made.get(id_) or replace(entity, id=id_, forms=())
        made[id_] = replace(held, forms=(*held.forms, *left))
        owner |= dict.fromkeys(map(fold_text, left), id_)
        used.add(id_)
    return tuple(made[id_] for id_ in sorted(made))


def _folded(entities: Iterable[Entity]) -> Iterator[str]:
    return (fold_text(form) for entity in entities for form in entity.forms)


def _free(id_: str, used: set[str]) -> str:
    """Return an id that nobody has: where there is no key, ids are numbers."""
    number = 0
    free = id_
    while free in used:
        number += 1
        free = f"earlier-{number:07d}"
    return free
