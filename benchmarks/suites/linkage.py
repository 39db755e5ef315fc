"""
The suite `linkage`: links found, what leaks after masking, and what still is answered.

Model-free. What leaks is what the `verbatim` generator would say: an entity of the
hidden person leaks if any of its forms still is in the cluster's masked documents.
The same generator repeats its masked sources as the answer. The linkage
attacker runs the resolver on the masked corpus, over what is still there to be read.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from benchmarks.suites.linkage_clusters import (
    CLUSTERS,
    LEAKED_ABOVE,
    Cluster,
    read_clusters,
)
from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.linkage import Assessment, Masked, assess, fit
from sdrag.linkage.schema import Schema, read_settings
from sdrag.policy import LinkageSection
from sdrag.studio.evaluation.tuning import link_scores
from sdrag.text.folding import fold, fold_text

_DIGITS = 12
"""Rates are compared with thresholds: what only rounding adds is taken off."""
_WORD = re.compile(r"[^\W_]+")


def linkage(
    data: Path = CLUSTERS,
    entities: Literal["given", "local"] = "given",
    select: Literal["document", "greedy", "knapsack"] | None = None,
    chain_length: int | None = None,
    policy: Path | None = None,
) -> dict[str, Any]:
    """
    Measure what links documents, and what masking leaves.

    Entities are those of the data, or found by rules; a policy is for its linkage
    section, in which the selection and the longest chain can be set here.
    """
    given = {"select": select, "chain_length": chain_length}
    settings = read_settings(policy).model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    detector = LocalDetector() if entities == "local" else None
    return evaluate_linkage(read_clusters(data), settings, detector)


def evaluate_linkage(
    clusters: Sequence[Cluster],
    settings: LinkageSection,
    detector: Detector | None = None,
) -> dict[str, Any]:
    """
    Mask the clusters as one corpus and measure.

    Args:
        clusters: In the thesis's schema.
        settings: The strategy and its ceilings.
        detector: Finds the entities; those of the data are used if not given.
    """
    documents = [document for cluster in clusters for document in cluster.documents]
    given = {id_: row for cluster in clusters for id_, row in cluster.entities.items()}
    masked = fit(documents, settings, detector or given).masked
    texts = {
        source.id: clean.text
        for source, clean in zip(documents, masked.documents, strict=True)
    }
    schema = Schema(settings)
    leaks = _leaks(clusters, masked.assessment, texts)
    rates = [
        leak_rate(c, some, schema) for c, some in zip(clusters, leaks, strict=True)
    ]
    attacker = assess(masked.documents, remaining(masked), settings)
    by_risk = defaultdict(list)
    for cluster, rate in zip(clusters, rates, strict=True):
        by_risk[cluster.risk].append(rate)
    return {
        "links": _linked(clusters, masked.assessment),
        "leak_rate": {risk: fmean(of) for risk, of in sorted(by_risk.items())},
        "leaked_clusters": sum(
            rate > LEAKED_ABOVE.get(risk, 1.0)
            for risk, of in by_risk.items()
            for rate in of
        ),
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
    gold = {pair for cluster in clusters for pair in cluster.linked_pairs}
    names = ("precision", "recall", "f1")
    scores = dict(zip(names, link_scores(found, gold), strict=True))
    return {**scores, "intra": len(found) - inter, "inter": inter}


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
