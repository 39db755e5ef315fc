"""
The suite `linkage`: links found, what leaks after masking, and what still is answered.

Model-free. What leaks is what the `verbatim` generator would say: an entity of the
hidden person leaks if any of its forms still is in the cluster's masked documents.
The same generator repeats its masked sources as the answer. The linkage
attacker runs the resolver on the masked corpus, over what is still there to be read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from statistics import fmean
from typing import Any

from benchmarks.suites.linkage_clusters import LEAKED_ABOVE, Cluster
from sdrag.detectors import Detector
from sdrag.effects.steps import EffectRunner
from sdrag.errors import UsageError
from sdrag.linkage import Assessment, Masked, assess, fit
from sdrag.linkage.extractor import ModelExtractor
from sdrag.linkage.fitting import Entities
from sdrag.linkage.schema import Schema
from sdrag.policy import LinkageSection
from sdrag.studio.evaluation.tuning import link_scores
from sdrag.text.folding import fold, fold_text

__all__ = [
    "evaluate_linkage",
    "given_entities",
    "leak_rate",
    "link_scores",
    "remaining",
    "rouge1_recall",
]

_DIGITS = 12
"""Rates are compared with thresholds: what only rounding adds is taken off."""
_WORD = re.compile(r"[^\W_]+")


def evaluate_linkage(
    clusters: Sequence[Cluster],
    settings: LinkageSection,
    finder: Detector | ModelExtractor | None = None,
    *,
    runner: EffectRunner | None = None,
) -> dict[str, Any]:
    """
    Mask the clusters as one corpus and measure.

    Args:
        clusters: In the thesis's schema.
        settings: The strategy and its ceilings.
        finder: Finds the entities; those of the data are used if not given.
        runner: Answers effects.

    Raises:
        UsageError: The data names no entities, and nothing was given that finds them.
    """
    documents = [document for cluster in clusters for document in cluster.documents]
    entities = finder or given_entities(clusters)
    masked = fit(documents, settings, entities, runner=runner).masked
    texts = {
        source.id: clean.text
        for source, clean in zip(documents, masked.documents, strict=True)
    }
    schema = Schema(settings)
    leaks = _leaks(clusters, masked.assessment, texts)
    rates = [
        leak_rate(c, some, schema) for c, some in zip(clusters, leaks, strict=True)
    ]
    attacker = assess(
        masked.documents,
        remaining(masked),
        settings,
        runner=runner,
    )
    return {
        "links": _linked(clusters, masked.assessment),
        "leak_rate": _by_risk(clusters, rates),
        "leaked_clusters": _leaked(clusters, rates),
        "leaked_types": _by_type(clusters, leaks),
        "masked_entities": int(masked.plan.masked.sum()),
        "entities": len(masked.assessment.resolved.entities),
        "rouge1_recall": rouge1_recall(clusters, texts),
        "attacker": {
            "links_before": len(masked.assessment.edges),
            "links_after": len(attacker.edges),
        },
        "documents": len(documents),
        "clusters": len(clusters),
    }


def given_entities(clusters: Sequence[Cluster]) -> Entities:
    """
    Return what is in each document, as the data says.

    Raises:
        UsageError: The data names no entities.
    """
    given: dict[str, Sequence[Any]] = {}
    for cluster in clusters:
        if cluster.entities is None:
            raise UsageError(
                "The data names no entities.", hint="Use `--entities local`."
            )
        given.update(cluster.entities)
    return given


def leak_rate(
    cluster: Cluster, leaked: Iterable[tuple[str, str]], schema: Schema
) -> float:
    """Return the leaked share of the person's entities, by weight (section 5.4.2)."""
    total = fsum(schema.weight(type_) for _, type_ in cluster.person)
    lost = fsum(schema.weight(type_) for _, type_ in set(leaked))
    return round(lost / total, _DIGITS) if total else 0.0


def remaining(masked: Masked) -> list[list[Any]]:
    """Return, for each document, the entities whose form still is in it."""
    lists = masked.assessment.resolved
    by_document: list[list[Any]] = [[] for _ in masked.documents]
    forms = {entity.id: (entity.type, entity.forms) for entity in lists.entities}
    for document, entity, relevance in lists.rows:
        type_, held = forms[entity]
        text = fold(masked.documents[document].text)
        for form in held:
            if any(text.find(fold_text(form))):
                by_document[document].append([form, "", type_, relevance])
    return by_document


def rouge1_recall(
    clusters: Sequence[Cluster], texts: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """
    Return, by type and source of the questions, ROUGE-1 recall of all the sources.

    What a generator that repeats its sources would reach: the share of the golden
    answer's words that are in the masked sources, averaged (section 5.5.2).

    Args:
        clusters: With their questions.
        texts: The masked documents by id.
    """
    recalls: dict[str, dict[str, list[float]]] = {}
    for cluster in clusters:
        for question in cluster.questions:
            sources = Counter(_words(" ".join(texts[id_] for id_ in question.sources)))
            golden = Counter(_words(question.answer))
            recall = (golden & sources).total() / golden.total()
            by_source = recalls.setdefault(question.type, {})
            by_source.setdefault(question.source, []).append(recall)
    return {
        type_: {source: fmean(values) for source, values in sorted(by_source.items())}
        for type_, by_source in sorted(recalls.items())
    }


def _words(text: str) -> list[str]:
    return _WORD.findall(fold_text(text))


def _linked(clusters: Sequence[Cluster], assessment: Assessment) -> dict[str, Any]:
    home = {d.id: c.id for c in clusters for d in c.documents}
    found = {frozenset((link.first, link.second)) for link in assessment.links}
    inter = sum(len({home[one] for one in pair}) > 1 for pair in found)
    labelled = [c for c in clusters if c.linked_pairs is not None]
    labelled_ids = {d.id for c in labelled for d in c.documents}
    gold = {pair for c in labelled for pair in c.linked_pairs or ()}
    scores = link_scores({pair for pair in found if pair <= labelled_ids}, gold)
    counts = {"intra": len(found) - inter, "inter": inter}
    names = ("precision", "recall", "f1")
    return {**(dict(zip(names, scores, strict=True)) if labelled else {}), **counts}


def _leaks(
    clusters: Sequence[Cluster], assessment: Assessment, texts: Mapping[str, str]
) -> list[set[tuple[str, str]]]:
    """Return, for each cluster, the values and types of the person that leak."""
    schema = Schema(assessment.settings)
    forms = _forms_by_value(assessment, schema)
    leaks = []
    for cluster in clusters:
        views = [fold(texts[document.id]) for document in cluster.documents]
        leaked = {
            (value, type_)
            for value, type_ in cluster.person
            if any(
                any(view.find(form))
                for view in views
                for form in forms.get(
                    (schema.pool(type_), fold_text(value)),
                    {fold_text(value)},
                )
            )
        }
        leaks.append(leaked)
    return leaks


def _by_type(
    clusters: Sequence[Cluster], leaks: Iterable[Iterable[tuple[str, str]]]
) -> dict[str, tuple[int, int]]:
    """Return how many of the persons' entities of each type leak, and there are."""
    held = Counter(type_ for cluster in clusters for _, type_ in cluster.person)
    left = Counter(type_ for leaked in leaks for _, type_ in leaked)
    return {type_: (left[type_], held[type_]) for type_ in sorted(held)}


def _forms_by_value(
    assessment: Assessment, schema: Schema
) -> dict[tuple[str, str], set[str]]:
    """Return, for each pool of types and value, the folded forms of the entity."""
    found: dict[tuple[str, str], set[str]] = {}
    for entity in assessment.resolved.entities:
        folded = {fold_text(form) for form in entity.forms}
        for form in folded:
            found[schema.pool(entity.type), form] = folded
    return found


def _by_risk(clusters: Sequence[Cluster], rates: Sequence[float]) -> dict[str, float]:
    levels: dict[str, list[float]] = {}
    for cluster, rate in zip(clusters, rates, strict=True):
        levels.setdefault(cluster.risk, []).append(rate)
    return {level: fmean(values) for level, values in sorted(levels.items())}


def _leaked(clusters: Sequence[Cluster], rates: Sequence[float]) -> int:
    return sum(
        rate > LEAKED_ABOVE.get(cluster.risk, 1.0)
        for cluster, rate in zip(clusters, rates, strict=True)
    )
