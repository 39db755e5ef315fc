"""
CLAM from end to end: detect, resolve, assess, plan, replace (Figure 4.1).

Runs once over the corpus, before it is indexed. A document that the detector could not
read to its end is withheld, not passed on. What was masked is told apart, in
`Originals`; the documents, their metadata and the report hold no value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdrag.detectors import Detector
from sdrag.errors import UsageError
from sdrag.linkage.assessment import Assessment, assess_steps
from sdrag.linkage.mentions import Found, Mentions, found_in
from sdrag.linkage.performing import local_performer
from sdrag.linkage.planning import Plan, plan_masking
from sdrag.linkage.replacing import Masker
from sdrag.linkage.rewriting import rewrite
from sdrag.linkage.schema import weights_of
from sdrag.linkage.settings import SettingsSource, read_settings
from sdrag.policy import LinkageSection
from sdrag.steps import Failure, Performer, Steps, run
from sdrag.vocabulary import Confidential, Decision, Entity, Passage

__all__ = ["Masked", "Originals", "mask_corpus", "mask_corpus_steps"]


class Originals(Confidential):
    """
    From what stands in place of an entity to the forms it was seen under.

    The one thing that undoes masking. It has no repr and does not pickle; it can be
    read in memory, or sealed with a cipher of the host's choice.

    Args:
        forms: By entity id, the type and the forms.
    """

    __slots__ = ("_forms",)

    def __init__(self, forms: Mapping[str, tuple[str, tuple[str, ...]]]) -> None:
        self._forms = dict(forms)

    def __len__(self) -> int:
        return len(self._forms)

    def forms_of(self, entity_id: str) -> tuple[str, ...]:
        """Return the forms of a masked entity, the commonest first."""
        return self._forms[entity_id][1]

    def sealed(self, encrypt: Callable[[bytes], bytes]) -> bytes:
        """
        Return the map encrypted.

        Args:
            encrypt: For example `cryptography.fernet.Fernet(key).encrypt`.
        """
        plain = json.dumps(self._forms, ensure_ascii=False).encode()
        cipher = encrypt(plain)
        if plain in cipher:
            raise UsageError("The cipher returned the plain text; nothing is written.")
        return cipher


@dataclass(frozen=True, eq=False, repr=False)
class Masked(Confidential):
    """
    A masked corpus.

    Args:
        documents: What may be indexed, in order; withheld ones are left out.
        decisions: What was done with each document handed in.
        assessment: The risks before.
        plan: What is masked and why, and the risks after.
        originals: From entity to forms; keep it apart.
        masker: Applies the plan to further text.
    """

    documents: tuple[Passage, ...]
    decisions: tuple[Decision, ...]
    assessment: Assessment
    plan: Plan
    originals: Originals
    masker: Masker

    def __repr__(self) -> str:
        count = int(self.plan.masked.sum())
        return f"Masked({len(self.documents)} documents, {count} entities masked)"


def mask_corpus(
    documents: Sequence[Passage],
    settings: SettingsSource = None,
    detector: Detector | None = None,
    *,
    mentions: Mentions | None = None,
    key: bytes | None = None,
    performer: Performer | None = None,
) -> Masked:
    """
    Mask what links people across a corpus, and as little as breaks the links.

    Args:
        documents: The whole corpus; ids must differ. Not changed.
        settings: A linkage section, a policy, a mapping or a path.
        detector: Finds entities, where none are handed in.
        mentions: What was found in each document, in place of a detector.
        key: For ids and pseudonyms that stay the same from run to run.
        performer: Answers effects; local work and the packaged MiniLM if not given.

    Raises:
        UsageError: Neither a detector nor mentions were given, or both.
    """
    section = read_settings(settings)
    steps = mask_corpus_steps(documents, section, detector, mentions=mentions, key=key)
    return run(steps, performer or local_performer())


def mask_corpus_steps(
    documents: Sequence[Passage],
    settings: LinkageSection,
    detector: Detector | None = None,
    *,
    mentions: Mentions | None = None,
    key: bytes | None = None,
) -> Steps[Masked]:
    """Mask a corpus, yielding effects; see `mask_corpus`."""
    if (detector is None) == (mentions is None):
        raise UsageError(
            "Entities come from a detector or are handed in.",
            hint="Pass `detector=` or `mentions=`.",
        )
    whole = tuple(documents)
    kept: list[Passage] = list(whole)
    found: Sequence[Sequence[Found]]
    if detector is None:
        found = found_in(kept, mentions or (), weights_of(settings))
    else:
        kept, found = yield from _detected(whole, settings, detector)
    assessment = yield from assess_steps(kept, found, settings, key)
    plan = plan_masking(assessment.corpus, settings)
    entities = masked_entities(assessment, plan)
    style = "label" if settings.replace == "rewrite" else settings.replace
    masker = Masker(entities, style, key)
    clean, counts = _replaced(kept, masker)
    if settings.replace == "rewrite":
        clean = yield from rewrite(kept, clean, masker)
    originals = Originals({e.id: (e.type, e.forms) for e in entities})
    decisions = _decisions(whole, kept, counts)
    return Masked(tuple(clean), decisions, assessment, plan, originals, masker)


def masked_entities(assessment: Assessment, plan: Plan) -> tuple[Entity, ...]:
    """Return the entities a plan masks, ascending by id."""
    entities = assessment.resolved.entities
    return tuple(entities[number] for number in np.flatnonzero(plan.masked).tolist())


def _detected(
    documents: Sequence[Passage], settings: LinkageSection, detector: Detector
) -> Steps[tuple[list[Passage], list[tuple[Found, ...]]]]:
    """Return the documents that could be read, and what was found in them."""
    outcomes = yield from detector.detect([document.text for document in documents])
    kept: list[Passage] = []
    lists = []
    for document, outcome in zip(documents, outcomes, strict=True):
        if not isinstance(outcome, Failure):
            kept.append(document)
            lists.append(outcome.value)
    return kept, found_in(kept, lists, weights_of(settings))


def _replaced(
    documents: Sequence[Passage], masker: Masker
) -> tuple[list[Passage], list[int]]:
    clean: list[Passage] = []
    counts: list[int] = []
    for number, document in enumerate(documents):
        result = masker.replace(document.text)
        counts.append(len(result.spans))
        clean.append(_cleaned(document, result.text, masker, number))
    return clean, counts


def _cleaned(document: Passage, text: str, masker: Masker, number: int) -> Passage:
    """Return a document with nothing masked in its text, metadata or ids."""
    alias = f"document-{number}"
    parent = document.document_id
    return replace(
        document,
        id=alias if masker.find(document.id) else document.id,
        text=text,
        metadata=masker.clean(dict(document.metadata)),
        document_id=alias if parent and masker.find(parent) else parent,
    )


def _decisions(
    documents: Sequence[Passage], kept: Sequence[Passage], counts: Sequence[int]
) -> tuple[Decision, ...]:
    spans = {document.id: count for document, count in zip(kept, counts, strict=True)}
    return tuple(
        Decision(document.id, "withheld", "linkage", "detector-failed")
        if document.id not in spans
        else Decision(
            document.id,
            "redacted" if spans[document.id] else "released",
            "linkage",
            spans=spans[document.id],
        )
        for document in documents
    )
