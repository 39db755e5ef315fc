"""
From what was found to masked documents: resolve, assess, plan, replace (Figure 4.1).

What was masked once stays masked: it is in an index without its values, or under its
pseudonyms. So a later plan masks every form that an earlier one masked, whatever its
type is by now, and whether or not it is still in the corpus. Forms keep their
pseudonyms, ids their aliases, and a text that a model rewrote is not rewritten again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from sdrag.effects.progress import batched
from sdrag.effects.steps import Steps
from sdrag.linkage.assessment import Assessment, assess_steps
from sdrag.linkage.meaning import Vectors
from sdrag.linkage.mentions import Occurrence
from sdrag.linkage.plan import Plan, plan_masking
from sdrag.linkage.replacing import Masker
from sdrag.linkage.rewriting import rewrite
from sdrag.parallel import Pool
from sdrag.policy import LinkageSection
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Action, Confidential, Decision, Entity, Passage

__all__ = ["Earlier", "Masked", "Passes", "clean_passage", "mask_found"]

_AT_ONCE = 64
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Passes:
    """
    How the texts of a corpus are gone through.

    Args:
        pool: Where; in this process, if not given.
        progress: Is told what is being done, how much of it, and of how much.
    """

    pool: Pool | None = None
    progress: Callable[[str, int, int], None] | None = None

    def each(
        self,
        name: str,
        make: Callable[..., Callable[[Sequence[T]], Sequence[R]]],
        common: Sequence[Any],
        items: Sequence[T],
    ) -> Iterator[R]:
        """Yield an answer for each item, in their order."""
        batches, done = batched(items, _AT_ONCE), 0
        answers = (
            map(make(*common), batches)
            if self.pool is None
            else self.pool.map(make, common, batches)
        )
        for some in answers:
            yield from some
            done += len(some)
            if self.progress is not None:
                self.progress(name, done, len(items))


@dataclass(frozen=True, slots=True, repr=False)
class Earlier(Confidential):
    """
    What stays as an earlier plan made it.

    Args:
        masker: Of the earlier plan; none where nothing was masked yet.
        rewritten: By text with labels, what a model made of it.
        vectors: Of texts that were embedded.
    """

    masker: Masker | None = None
    rewritten: Mapping[str, str] = field(default_factory=dict)
    vectors: Vectors = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Masked(Confidential):
    """
    A masked corpus.

    Args:
        documents: What may be indexed, in order; withheld ones are left out.
        decisions: What was done with each document that was passed.
        assessment: The risks before.
        plan: What is masked and why, and the risks after.
        masker: Applies the plan to further text, and knows what undoes it.
        rewritten: By text with labels, what a model made of it.
    """

    documents: tuple[Passage, ...]
    decisions: tuple[Decision, ...]
    assessment: Assessment
    plan: Plan
    masker: Masker
    rewritten: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        count = int(self.plan.masked.sum())
        return f"Masked({len(self.documents)} documents, {count} entities masked)"

    @property
    def entities(self) -> tuple[Entity, ...]:
        """What is masked, ascending by id; also what an earlier plan masked."""
        return self.masker.entities

    @property
    def earlier(self) -> Earlier:
        """What a later plan keeps of this one."""
        vectors = self.assessment.resolved.vectors
        return Earlier(self.masker, self.rewritten, vectors)


def mask_found(
    documents: Sequence[Passage],
    occurrences: Sequence[Sequence[Occurrence]],
    settings: LinkageSection,
    key: bytes | None,
    earlier: Earlier,
    passes: Passes,
) -> Steps[Masked]:
    """
    Mask documents in which everything was found.

    Args:
        documents: The corpus.
        occurrences: For each document.
        settings: The ceilings and the strategy.
        key: For ids and pseudonyms.
        earlier: What was masked before stays masked.
        passes: How the texts are gone through.
    """
    assessment = yield from assess_steps(
        documents, occurrences, settings, key, earlier.vectors
    )
    before = earlier.masker
    kept = before.entities if before else ()
    plan = _plan(assessment, settings, kept)
    entities = assessment.resolved.entities
    masked = [entities[number] for number in np.flatnonzero(plan.masked).tolist()]
    masker = Masker(
        _with_earlier(masked, kept, plan.corpus.entity_ids),
        "label" if settings.replace == "rewrite" else settings.replace,
        key,
        given=before.pseudonyms if before else {},
        secret=before.secret if before else b"",
        order=tuple(document.id for document in documents),
        bearers=_bearers(documents, assessment),
    )
    clean: list[Passage] = []
    decisions: list[Decision] = []
    for document, spans in passes.each("Masking", _cleaning, (masker,), documents):
        clean.append(document)
        action: Action = "redacted" if spans else "released"
        decisions.append(Decision(document.id, action, "linkage", spans=spans))
    rewritten: Mapping[str, str] = {}
    if settings.replace == "rewrite":
        clean, rewritten = yield from rewrite(
            documents, clean, masker, earlier.rewritten
        )
    return Masked(tuple(clean), tuple(decisions), assessment, plan, masker, rewritten)


def clean_passage(masker: Masker, document: Passage) -> tuple[Passage, int]:
    """Mask a passage's text, metadata and ids; return it, and how many spans went."""
    parent = document.document_id
    replaced = masker.replace(document.text, document.id, parent)
    clean = replace(
        document,
        id=masker.alias(document.id),
        text=replaced.text,
        metadata=masker.clean(dict(document.metadata), document.id, parent),
        document_id=parent and masker.alias(parent),
    )
    return clean, len(replaced.spans)


def _cleaning(
    masker: Masker,
) -> Callable[[Sequence[Passage]], list[tuple[Passage, int]]]:
    return lambda documents: [clean_passage(masker, d) for d in documents]


def _plan(
    assessment: Assessment, settings: LinkageSection, earlier: Sequence[Entity]
) -> Plan:
    """Plan so that of people of one name all are masked, or nobody."""
    corpus, entities = assessment.corpus, assessment.resolved.entities
    plan = plan_masking(corpus, settings, _still_masked(entities, earlier))
    shared = {form for _, form in assessment.resolved.namesakes}
    bearers = [
        (number, {*map(fold_text, entity.forms)} & shared)
        for number, entity in enumerate(entities if shared else ())
    ]
    masked, count = {*np.flatnonzero(plan.masked).tolist()}, 0
    while count != len(masked):
        count = len(masked)
        names = {name for number, held in bearers if number in masked for name in held}
        masked |= {number for number, held in bearers if held & names}
    if count == plan.masked.sum():
        return plan
    return plan_masking(corpus, settings, sorted(masked))


def _still_masked(entities: Sequence[Entity], earlier: Sequence[Entity]) -> list[int]:
    """
    Return the entities that an earlier plan masked.

    A form may be of another type once more is known of it; then all that is joined with
    it goes too. Entities that share a form with a masked one of another type stay: of
    these only the form was masked.
    """
    typed: dict[tuple[str, str], list[int]] = {}
    untyped: dict[str, list[int]] = {}
    for number, entity in enumerate(entities if earlier else ()):
        for form in map(fold_text, entity.forms):
            typed.setdefault((entity.type, form), []).append(number)
            untyped.setdefault(form, []).append(number)
    return sorted(
        {
            number
            for entity in earlier
            for form in map(fold_text, entity.forms)
            for number in typed.get((entity.type, form), untyped.get(form, ()))
        }
    )


def _with_earlier(
    masked: Sequence[Entity], earlier: Sequence[Entity], taken: Iterable[str]
) -> tuple[Entity, ...]:
    """
    Return what is masked, and what was masked before and is not among it, by id.

    A form that is no longer found is one more form of the entity that shares another
    one, else an entity by itself, of an id that is not taken.
    """
    made = {entity.id: entity for entity in masked}
    owner = {fold_text(f): entity.id for entity in masked[::-1] for f in entity.forms}
    used = {*taken, *made}
    for entity in earlier:
        left = tuple(form for form in entity.forms if fold_text(form) not in owner)
        if not left:
            continue
        shared = [owner[form] for form in map(fold_text, entity.forms) if form in owner]
        id_ = min(shared) if shared else _free(entity.id, used)
        held = made.get(id_) or replace(entity, id=id_, forms=())
        made[id_] = replace(held, forms=(*held.forms, *left))
        owner |= dict.fromkeys(map(fold_text, left), id_)
        used.add(id_)
    return tuple(made[id_] for id_ in sorted(made))


def _free(id_: str, used: set[str]) -> str:
    """Return an id that is not used: where there is no key, ids are numbers."""
    number, free = 0, id_
    while free in used:
        number += 1
        free = f"earlier-{number:07d}"
    return free


def _bearers(
    documents: Sequence[Passage], assessment: Assessment
) -> dict[str, dict[str, str]]:
    bearers: dict[str, dict[str, str]] = {}
    for (number, form), id_ in assessment.resolved.namesakes.items():
        bearers.setdefault(documents[number].id, {})[form] = id_
    return bearers
