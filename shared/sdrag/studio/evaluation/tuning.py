"""
Settings of masking, tried on documents whose links are known (CLAM, section 4.2.5).

As in the thesis: first the least strength of a link, by how many of the known links are
found and how many others; then, with the best of these, the ceilings, by what masking
costs and what it leaves. Entities are found and resolved once. A sample is small: what
is best on it is a place to begin, and no proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from sdrag.effects.steps import EffectRunner
from sdrag.linkage.assessment import Assessment
from sdrag.linkage.fitting import Entities, fit
from sdrag.linkage.graph import Edges, find_edges
from sdrag.linkage.masking import Passes
from sdrag.linkage.plan import Plan, plan_masking
from sdrag.linkage.replacing import Masker
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Passage

EDGES = tuple(step / 20 for step in range(1, 20))
DOCUMENTS = (0.85, 0.9, 0.95, 1.0)
CHAINS = (0.3, 0.4, 0.5, 0.6, 0.7)

Pair = frozenset[str]
"""Two documents that are linked, by their ids."""


@dataclass(frozen=True, slots=True)
class Links:
    """What is found with an edge threshold: known links, and others."""

    edge_threshold: float
    known: int
    others: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Ceilings:
    """
    What masking under two ceilings costs, and what it leaves.

    Args:
        masked_text: The share of the characters that go, from 0 to 1.
        links_left: How many links are left, the known ones among them.
    """

    max_document_risk: float
    max_chain_risk: float
    masked_entities: int
    masked_text: float
    known_left: int
    links_left: int


@dataclass(frozen=True, slots=True)
class Tuning:
    """
    What each setting costs on a sample.

    Args:
        best: The edge threshold with the best F1, of equal ones the highest; the
            ceilings were tried with it.
        withheld: How many documents could not be read.
    """

    documents: int
    known_links: int
    links: tuple[Links, ...]
    best: Links
    ceilings: tuple[Ceilings, ...]
    withheld: int = 0


def tune(
    documents: Sequence[Passage],
    known: Iterable[Pair],
    settings: LinkageSection,
    entities: Entities,
    *,
    runner: EffectRunner | None = None,
    passes: Passes | None = None,
) -> Tuning:
    """Try settings on documents all of whose links are known; those in force too."""
    gold = set(known)
    plain = settings.model_copy(update={"replace": "label"})
    fitted = fit(documents, plain, entities, runner=runner, passes=passes)
    assessment = fitted.masked.assessment
    tried = sorted({*EDGES, settings.edge_threshold})
    links = tuple(_links(assessment, edge, gold) for edge in tried)
    best = max(links, key=lambda row: (round(row.f1, 9), row.edge_threshold))
    chosen = plain.model_copy(update={"edge_threshold": best.edge_threshold})
    texts = [document.text for document in fitted.documents.values()]
    return Tuning(
        documents=len(documents),
        known_links=len(gold),
        links=links,
        best=best,
        ceilings=tuple(_ceilings(assessment, chosen, texts, gold)),
        withheld=len(documents) - len(fitted.documents),
    )


def link_scores(
    found: Iterable[Pair], gold: Iterable[Pair]
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of links; of nothing, precision is 1."""
    held, wanted = set(found), set(gold)
    right = len(held & wanted)
    precision = right / len(held) if held else 1.0
    recall = right / len(wanted) if wanted else 1.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def _links(assessment: Assessment, edge: float, gold: set[Pair]) -> Links:
    found = _pairs(find_edges(assessment.corpus, edge), assessment)
    right = len(found & gold)
    return Links(edge, right, len(found) - right, *link_scores(found, gold))


def _ceilings(
    assessment: Assessment,
    settings: LinkageSection,
    texts: Sequence[str],
    gold: set[Pair],
) -> Iterator[Ceilings]:
    """Yield what each pair of ceilings costs."""
    documents = sorted({*DOCUMENTS, settings.max_document_risk})
    chains = sorted({*CHAINS, settings.max_chain_risk})
    edges = find_edges(assessment.corpus, settings.edge_threshold)
    length = sum(map(len, texts)) or 1
    for document, chain in product(documents, chains):
        update = {"max_document_risk": document, "max_chain_risk": chain}
        section = settings.model_copy(update=update)
        plan = plan_masking(assessment.corpus, section, before=edges)
        left = _pairs(plan.after, assessment)
        yield Ceilings(
            document,
            chain,
            masked_entities=int(plan.masked.sum()),
            masked_text=round(_count_masked(plan, assessment, texts) / length, 4),
            known_left=len(left & gold),
            links_left=len(left),
        )


def _count_masked(plan: Plan, assessment: Assessment, texts: Sequence[str]) -> int:
    """Count the characters that a plan masks."""
    entities = assessment.resolved.entities
    masker = Masker(tuple(entities[n] for n in np.flatnonzero(plan.masked).tolist()))
    return sum(len(span) for text in texts for span, _ in masker.find(text))


def _pairs(edges: Edges, assessment: Assessment) -> set[Pair]:
    ids = assessment.corpus.document_ids
    rows = zip(edges.first.tolist(), edges.second.tolist(), strict=True)
    return {frozenset((ids[first], ids[second])) for first, second in rows}
