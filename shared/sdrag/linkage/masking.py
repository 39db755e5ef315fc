"""
CLAM from end to end: detect, resolve, assess, plan, replace (Figure 4.1).

Runs once over the corpus, before it is indexed. A document that the detector could not
read to its end is withheld, not passed on. What was masked is returned apart, in
`Originals`; the documents, their metadata and the report hold no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sdrag.detectors import Detector
from sdrag.effects.steps import EffectRunner, Failure, Outcome, Steps, run
from sdrag.errors import UsageError
from sdrag.linkage.assessment import Assessment, assess_steps
from sdrag.linkage.carried import Carried, with_carried
from sdrag.linkage.entity_schema import weights_of
from sdrag.linkage.mentions import Found, Mentions, found_in
from sdrag.linkage.model_extractor import Extractor, InformedExtractor
from sdrag.linkage.originals import Originals
from sdrag.linkage.placement import HERE, Cleaned, Placement, cleaned_by
from sdrag.linkage.plan import Plan, plan_masking
from sdrag.linkage.replacing import Masker, check_style
from sdrag.linkage.resolution import Vectors
from sdrag.linkage.rewriting import rewrite
from sdrag.linkage.second_look import look_again
from sdrag.linkage.settings import SettingsSource, local_runner, read_settings
from sdrag.policy import LinkageSection
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Action, Confidential, Decision, Entity, Mention, Passage

__all__ = [
    "Masked",
    "detected",
    "mask_corpus",
    "mask_corpus_steps",
    "mask_found",
]


_NOTHING = Carried()

Detected = tuple[
    list[Passage], list[tuple[Found, ...]], Mapping[str, tuple[Mention, ...]]
]


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
        entities: What is masked, ascending by id; also what an earlier plan masked.
        rewritten: By text with labels, what a model made of it.
    """

    documents: tuple[Passage, ...]
    decisions: tuple[Decision, ...]
    assessment: Assessment
    plan: Plan
    originals: Originals
    masker: Masker
    entities: tuple[Entity, ...]
    rewritten: Mapping[str, str] = field(default_factory=dict)

    @property
    def carried(self) -> Carried:
        """What a later plan keeps of this one."""
        given, secret = self.masker.pseudonyms, self.masker.secret
        return Carried(self.entities, given, self.rewritten, secret)

    def cleaned(self, document: Passage) -> Passage:
        """Apply the plan to a document, its metadata and its ids."""
        return cleaned_by(self.masker, document)[0]

    def __repr__(self) -> str:
        count = int(self.plan.masked.sum())
        return f"Masked({len(self.documents)} documents, {count} entities masked)"


def mask_corpus(
    documents: Sequence[Passage],
    settings: SettingsSource = None,
    detector: Detector | Extractor | None = None,
    *,
    mentions: Mentions | None = None,
    key: bytes | None = None,
    runner: EffectRunner | None = None,
) -> Masked:
    """
    Mask what links people across a corpus, and as little as breaks the links.

    Args:
        documents: The whole corpus; ids must differ. Not changed.
        settings: A linkage section, a policy, a mapping or a path.
        detector: Finds entities, where none are handed in.
        mentions: What was found in each document, in place of a detector.
        key: For ids and pseudonyms that stay the same from run to run.
        runner: Answers effects; local work and the packaged MiniLM if not given.

    Raises:
        UsageError: Neither a detector nor mentions were given, or both.
    """
    section = read_settings(settings)
    steps = mask_corpus_steps(documents, section, detector, mentions=mentions, key=key)
    return run(steps, runner or local_runner())


def mask_corpus_steps(
    documents: Sequence[Passage],
    settings: LinkageSection,
    detector: Detector | Extractor | None = None,
    *,
    mentions: Mentions | None = None,
    key: bytes | None = None,
) -> Steps[Masked]:
    """Mask a corpus, yielding effects; see `mask_corpus` for the arguments."""
    whole = tuple(documents)
    kept, found, _ = yield from detected(whole, settings, detector, mentions)
    masked = yield from mask_found(kept, found, settings, key)
    names = {document.id for document in kept}
    withheld = (
        Decision(
            masked.masker.alias(document.id), "withheld", "linkage", "detector-failed"
        )
        for document in whole
        if document.id not in names
    )
    return replace(masked, decisions=(*masked.decisions, *withheld))


def mask_found(
    documents: Sequence[Passage],
    found: Sequence[Sequence[Found]],
    settings: LinkageSection,
    key: bytes | None = None,
    carried: Carried = _NOTHING,
    known: Vectors | None = None,
    *,
    placement: Placement = HERE,
) -> Steps[Masked]:
    """
    Mask documents in which everything was found.

    Args:
        documents: The corpus.
        found: For each document.
        settings: The ceilings and the strategy.
        key: For ids and pseudonyms.
        carried: What an earlier plan masked, and stays masked.
        known: Vectors of forms that were embedded before, by the same model.
        placement: Where the documents are masked, and their links are found.
    """
    check_style(settings.replace, key)
    assessment = yield from assess_steps(documents, found, settings, key, known)
    plan = _planned(assessment, settings, _numbers(assessment, carried))
    entities = with_carried(
        masked_entities(assessment, plan), carried, plan.corpus.entity_ids
    )
    masker = Masker(
        entities,
        "label" if settings.replace == "rewrite" else settings.replace,
        key,
        given=carried.pseudonyms,
        secret=carried.secret,
        order=[document.id for document in documents],
        bearers=_bearers(documents, assessment),
    )
    clean, decisions = _decided(placement.cleaned(documents, masker))
    rewritten: Mapping[str, str] = {}
    if settings.replace == "rewrite":
        clean, rewritten = yield from rewrite(
            documents, clean, masker, carried.rewritten
        )
    return Masked(
        tuple(clean),
        decisions,
        assessment,
        plan,
        Originals.of(entities, masker.pseudonyms, masker.labels),
        masker,
        entities,
        rewritten,
    )


def _planned(
    assessment: Assessment, settings: LinkageSection, already: Sequence[int]
) -> Plan:
    """Plan so that of people of one name all are masked, or nobody."""
    plan = plan_masking(assessment.corpus, settings, already)
    shared = {form for _, form in assessment.resolved.namesakes}
    bearers = [
        (number, {*map(fold_text, entity.forms)} & shared)
        for number, entity in enumerate(assessment.resolved.entities if shared else ())
    ]
    masked = {*np.flatnonzero(plan.masked).tolist()}
    count = 0
    while count != len(masked):
        count = len(masked)
        names = {name for number, held in bearers if number in masked for name in held}
        masked |= {number for number, held in bearers if held & names}
    if count == plan.masked.sum():
        return plan
    return plan_masking(assessment.corpus, settings, sorted(masked))


def _bearers(
    documents: Sequence[Passage], assessment: Assessment
) -> dict[str, dict[str, str]]:
    bearers: dict[str, dict[str, str]] = {}
    for (number, form), id_ in assessment.resolved.namesakes.items():
        bearers.setdefault(documents[number].id, {})[form] = id_
    return bearers


def masked_entities(assessment: Assessment, plan: Plan) -> tuple[Entity, ...]:
    """Return the entities a plan masks, ascending by id."""
    entities = assessment.resolved.entities
    return tuple(entities[number] for number in np.flatnonzero(plan.masked).tolist())


def detected(
    documents: Sequence[Passage],
    settings: LinkageSection,
    detector: Detector | Extractor | None,
    mentions: Mentions | None,
    known: Sequence[Sequence[Found]] = (),
) -> Steps[Detected]:
    """
    Return the documents that could be read, and what was found in them.

    A detector's mentions come with them, by document id: they are what is looked for
    again when the corpus changes.

    Args:
        documents: The whole corpus.
        settings: For the weights of types.
        detector: Finds entities.
        mentions: What was found in each document, in place of a detector.
        known: What a model found in documents that it does not read now.

    Raises:
        UsageError: Neither a detector nor mentions were given, or both.
    """
    if (detector is None) == (mentions is None):
        raise UsageError(
            "`detector` and `mentions` are both given, or neither is.",
            hint="Pass one: `mentions=` where entities are handed in.",
        )
    weights = weights_of(settings)
    if detector is None:
        return list(documents), found_in(documents, mentions or (), weights), {}
    texts = [document.text for document in documents]
    outcomes: Sequence[Outcome[Any]]
    if isinstance(detector, InformedExtractor):
        outcomes = yield from detector.extract_knowing(texts, known)
    elif isinstance(detector, Extractor):
        outcomes = yield from detector.extract(texts)
    else:
        outcomes = yield from detector.detect(texts)
    pairs = [
        (document, outcome.value)
        for document, outcome in zip(documents, outcomes, strict=True)
        if not isinstance(outcome, Failure)
    ]
    kept = [document for document, _ in pairs]
    found: Sequence[Sequence[Any]] = [value for _, value in pairs]
    if isinstance(detector, Extractor):
        return kept, found_in(kept, found, weights), {}
    raw = {document.id: tuple(row) for document, row in zip(kept, found, strict=True)}
    again = look_again([document.text for document in kept], found)
    return kept, found_in(kept, again, weights), raw


def _numbers(assessment: Assessment, carried: Carried) -> list[int]:
    """
    Return the entities that an earlier plan masked.

    A form may be of another type once more is known of it; then all that is joined with
    it goes too. Entities that share a form with a masked one of another type stay: of
    them only the form was masked.
    """
    types: dict[tuple[str, str], list[int]] = {}
    forms: dict[str, list[int]] = {}
    for number, entity in enumerate(assessment.resolved.entities):
        for form in map(fold_text, entity.forms):
            types.setdefault((entity.type, form), []).append(number)
            forms.setdefault(form, []).append(number)
    found = {
        number
        for entity in carried.entities
        for form in map(fold_text, entity.forms)
        for number in types.get((entity.type, form), forms.get(form, ()))
    }
    return sorted(found)


def _decided(
    cleaned: Iterable[Cleaned],
) -> tuple[list[Passage], tuple[Decision, ...]]:
    clean: list[Passage] = []
    decisions: list[Decision] = []
    for document, spans in cleaned:
        clean.append(document)
        action: Action = "redacted" if spans else "released"
        decisions.append(Decision(document.id, action, "linkage", spans=spans))
    return clean, tuple(decisions)
