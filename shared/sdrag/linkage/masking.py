"""
From what was found to masked documents: resolve, assess, plan, replace (Figure 4.1).

What was masked once stays masked: it is in an index without its values, or under its
pseudonyms. So a later plan masks every form that an earlier one masked, whatever its
type is by now, and whether or not it is still in the corpus. Forms keep their
pseudonyms, ids their aliases, and a text that a model rewrote is not rewritten again.

The thesis calls rewriting hard to audit (section 4.2.4), so it is verified. The model
reads the text with labels already in place, never the values, and is asked for fluent
prose without the labels. A reply that brings back a masked form, that is empty, or that
is of another length is not used: the labelled text is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sdrag.effects.progress import batched
from sdrag.effects.prompts import Labelled, Message, Prompt, fill, sensitive
from sdrag.effects.steps import Outcome, Reply, Steps, complete
from sdrag.errors import require_extra
from sdrag.linkage.assessment import Assessment, assess_steps
from sdrag.linkage.meaning import Vectors
from sdrag.linkage.mentions import Occurrence
from sdrag.linkage.plan import Plan, plan_masking
from sdrag.linkage.replacing import Masker, written_forms
from sdrag.parallel import Pool
from sdrag.placeholders import DEFAULT, Placeholders
from sdrag.policy import LinkageSection
from sdrag.text.folding import fold_text
from sdrag.vocabulary import (
    Action,
    Confidential,
    Decision,
    Entity,
    Passage,
    is_unnamed,
)

if TYPE_CHECKING:
    import networkx as nx


_AT_ONCE = 64
_ASK = """Rewrite the document so that it reads naturally without the parts in square
brackets. Use general words in their place, such as "the patient" or "a clinic".
Add no facts, guess no names, dates, places or numbers, and keep everything else as it
is. Reply with the document alone.

Document:
{document}"""
_SHORTEST, _LONGEST = 0.4, 1.6
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Passes:
    """How the texts of a corpus are gone through."""

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
        rewritten: By text with labels, what a model made of it.
        placeholders: What is put in place of values, from the first plan on.
    """

    masker: Masker | None = None
    rewritten: Mapping[str, str] = field(default_factory=dict)
    vectors: Vectors = field(default_factory=dict)
    placeholders: Placeholders = DEFAULT


@dataclass(frozen=True, eq=False, repr=False)
class Masked(Confidential):
    """
    A masked corpus.

    Args:
        documents: What may be indexed, in order; withheld ones are left out.
        plan: What is masked and why, and the risks after.
        masker: Applies the plan to further text, and knows what undoes it.
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
    def links_kept(self) -> int:
        """How many links the same pseudonym in both documents keeps."""
        plan, ids = self.plan, self.plan.corpus.entity_ids
        refused = [*self.masker.refused] if self.masker.style == "pseudonym" else ids
        gone = plan.masked & np.isin(ids, refused)
        kept = plan.before.without(gone, plan.settings.edge_threshold)
        return len(kept) - len(plan.after)

    @cached_property
    def graph(self) -> nx.Graph[str]:
        """
        The document graph under the ids of the masked documents, as the plan leaves it.

        Beside what `Assessment.graph` says, a node has its `risk_after`, and an edge
        `masked`, the ids of the shared entities that are masked, and `kept`, whether
        the link is left.

        Raises:
            MissingExtraError: The extra `linkage` is not installed.
        """
        with require_extra("linkage", "A graph of links"):
            import networkx as nx  # noqa: PLC0415 -- an extra
        plan, ids = self.plan, self.plan.corpus.document_ids
        graph = self.assessment.graph.copy()
        risks = zip(ids, plan.document_risk.tolist(), strict=True)
        nx.set_node_attributes(graph, dict(risks), "risk_after")
        gone = {plan.corpus.entity_ids[number] for number in plan.why}
        ends = zip(plan.after.first.tolist(), plan.after.second.tolist(), strict=True)
        left = {(ids[first], ids[second]) for first, second in ends}
        for link in self.assessment.links:
            edge = graph.edges[link.first, link.second]
            edge["masked"] = " ".join(name for name in link.via if name in gone)
            edge["kept"] = (link.first, link.second) in left
        names = (document.id for document in self.documents)
        return nx.freeze(nx.relabel_nodes(graph, dict(zip(ids, names, strict=True))))

    @property
    def earlier(self) -> Earlier:
        """What a later plan keeps of this one."""
        vectors = self.assessment.resolved.vectors
        return Earlier(self.masker, self.rewritten, vectors, self.masker.placeholders)


def mask_found(
    documents: Sequence[Passage],
    occurrences: Sequence[Sequence[Occurrence]],
    settings: LinkageSection,
    key: bytes | None,
    earlier: Earlier,
    passes: Passes,
) -> Steps[Masked]:
    """Mask documents in which everything was found."""
    assessment = yield from assess_steps(
        documents, occurrences, settings, key, earlier.vectors
    )
    entities, before = assessment.resolved.entities, earlier.masker
    kept = before.entities if before else ()
    still = _still_masked(entities, kept)
    plan = plan_masking(assessment.corpus, settings, still, assessment.edges)
    masked = [entities[number] for number in np.flatnonzero(plan.masked).tolist()]
    masker = Masker(
        _with_earlier(masked, kept, plan.corpus.entity_ids),
        "type" if settings.replace == "rewrite" else settings.replace,
        key,
        given=before.pseudonyms if before else {},
        secret=before.secret if before else b"",
        order=tuple(document.id for document in documents),
        linking=_find_linking(plan, entities, before),
        placeholders=earlier.placeholders,
        instead=settings.instead,
    )
    clean: list[Passage] = []
    decisions: list[Decision] = []
    for document, spans in passes.each("Masking", _make_clean, (masker,), documents):
        clean.append(document)
        action: Action = "redacted" if spans else "released"
        decisions.append(Decision(document.id, action, "linkage", spans=spans))
    rewritten: Mapping[str, str] = {}
    if settings.replace == "rewrite":
        clean, rewritten = yield from _rewrite(
            documents, clean, masker, earlier.rewritten
        )
    return Masked(tuple(clean), tuple(decisions), assessment, plan, masker, rewritten)


def apply_masker(
    documents: Sequence[Passage],
    masker: Masker,
    settings: LinkageSection,
    rewritten: Mapping[str, str],
) -> Steps[tuple[Passage, ...]]:
    """Mask further text by a plan."""
    clean = [document for document, _ in _make_clean(masker)(documents)]
    if settings.replace == "rewrite":
        clean, _ = yield from _rewrite(documents, clean, masker, rewritten)
    return tuple(clean)


def _make_clean(
    masker: Masker,
) -> Callable[[Sequence[Passage]], list[tuple[Passage, int]]]:
    """Return what masks text, metadata and ids, and says how many spans went."""

    def clean(document: Passage) -> tuple[Passage, int]:
        parent = document.document_id
        name = parent or ("" if is_unnamed(document) else document.id)
        replaced = masker.replace(document.text, name)
        masked = replace(
            document,
            id=masker.alias(document.id),
            text=replaced.text,
            metadata=masker.clean(dict(document.metadata), name),
            document_id=parent and masker.alias(parent),
        )
        return masked, len(replaced.spans)

    return lambda documents: [clean(document) for document in documents]


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


def _find_linking(
    plan: Plan, entities: Sequence[Entity], before: Masker | None
) -> frozenset[str]:
    """
    Return the forms of what several documents hold and was masked to break a chain.

    What had no pseudonym in an earlier plan for that reason gets none for a new form.
    """
    earlier = before.linking if before else frozenset()
    given = before.pseudonyms if before else {}
    held = set(earlier)
    for number, path in plan.why.items():
        forms = {*written_forms(entities[number])}
        breaks = len(path) > 1 and plan.corpus.frequency[number] > 1
        if breaks or (forms & earlier and forms.isdisjoint(given)):
            held |= forms
    return frozenset(held)


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
    others = (f"earlier-{number:07d}" for number in count(1))
    return next(free for free in chain((id_,), others) if free not in used)


def _rewrite(
    originals: Sequence[Passage],
    labelled: Sequence[Passage],
    masker: Masker,
    known: Mapping[str, str],
) -> Steps[tuple[list[Passage], Mapping[str, str]]]:
    """
    Rewrite the documents in which something was masked.

    Returns:
        The documents, and what was made of each text with labels among them.
    """
    pairs = list(zip(originals, labelled, strict=True))
    changed = [right.text for left, right in pairs if left.text != right.text]
    kept = {
        text: known[text]
        for text in changed
        if text in known and not masker.find(known[text])
    }
    new = [text for text in dict.fromkeys(changed) if text not in kept]
    outcomes = yield from complete(map(_rewrite_prompt, new))
    for text, outcome in zip(new, outcomes, strict=True):
        kept[text] = _check_rewritten(outcome, text, masker)
    made = [
        right if left.text == right.text else replace(right, text=kept[right.text])
        for left, right in pairs
    ]
    return made, kept


def _rewrite_prompt(text: str) -> Prompt:
    content = fill(_ASK, document=sensitive(text))
    return Prompt("linkage.rewrite", (Message("user", content),))


def _check_rewritten(outcome: Outcome[Labelled], labelled: str, masker: Masker) -> str:
    if not isinstance(outcome, Reply):
        return labelled
    text = outcome.value.text.strip()
    fits = _SHORTEST * len(labelled) <= len(text) <= _LONGEST * len(labelled)
    return labelled if not fits or masker.find(text) else text
