"""
The thesis's tuning (section 4.2.5): the context filter, the grid of thresholds, folds.

Figure 4.2 asks how many of the known entities a second reading has to be shown. Figure
4.4 asks which thresholds find the dangerous chains. Folds say what thresholds reach on
clusters that they were not chosen by.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from statistics import fmean

from benchmarks.suites.classification import f1
from benchmarks.suites.linkage import link_scores, mentions_of
from benchmarks.suites.linkage_clusters import Cluster
from benchmarks.suites.scripted.asked import shown
from sdrag.effects.prompts import Prompt
from sdrag.effects.runner import Port, PortRunner, Ports
from sdrag.effects.steps import replied, run
from sdrag.linkage.assessment import Assessment, assess
from sdrag.linkage.model_extractor import ModelExtractor
from sdrag.policy import LinkageSection
from sdrag.text.folding import fold_text

__all__ = [
    "chain_scores",
    "filter_curve",
    "folds",
    "limited_reader",
    "listed",
    "rouge1_f1",
]

Pair = frozenset[str]
Read = Callable[[str], str]
_LISTED = "Existing entities:"


def rouge1_f1(found: Sequence[str], wanted: Sequence[str]) -> float:
    """Return ROUGE-1 F1 of the words of two lists of values."""
    one, two = (
        Counter(" ".join(map(fold_text, row)).split()) for row in (found, wanted)
    )
    shared = (one & two).total()
    if not one or not two:
        return float(one == two)
    return f1(shared / one.total(), shared / two.total())


@dataclass(slots=True)
class _Counted:
    """A model, and how many known entities each second reading was shown."""

    read: Read
    shown: list[int] = field(default_factory=list)

    def __call__(self, prompt: Prompt) -> str:
        text = shown(prompt)
        if _LISTED in text:
            self.shown.append(len(listed(text)))
        return self.read(text)


def filter_curve(
    clusters: Sequence[Cluster], read: Read, strengths: Sequence[float]
) -> Iterator[tuple[bool, float, float, float]]:
    """
    Yield type filter, strength, ROUGE-1 F1 and entities shown (Figure 4.2).

    Both figures are means over the documents.

    Args:
        clusters: With their entities, which are the expected ones.
        read: The extractor's model, from the text of a prompt to a reply.
        strengths: `ENTITY_FILTER_STRENGTH`.
    """
    documents = [document for cluster in clusters for document in cluster.documents]
    wanted = mentions_of(clusters)
    texts = [document.text for document in documents]
    for by_type, strength in itertools.product((True, False), strengths):
        model = _Counted(read)
        runner = PortRunner(Ports(complete=Port(model, local=True)))
        extractor = ModelExtractor(strength=strength, filter_types=by_type)
        rows = [replied(one) for one in run(extractor.extract(texts), runner)]
        scores = [
            rouge1_f1([f.form for f in row], [str(e[0]) for e in wanted[document.id]])
            for document, row in zip(documents, rows, strict=True)
        ]
        yield by_type, strength, fmean(scores), fmean(model.shown)


def limited_reader(clusters: Sequence[Cluster], misses: float = 0.4) -> Read:
    """
    Return a reader that needs no model: it overlooks what it was not told of.

    Alone it finds the given entities but for a fixed share. What the list of known
    entities names, in whole or in half of its words, it finds as well.

    Args:
        clusters: With their entities.
        misses: The share that it overlooks.
    """
    given = {
        document.text: (cluster.entities or {})[document.id]
        for cluster in clusters
        for document in cluster.documents
    }

    def read(text: str) -> str:
        rows = next(rows for document, rows in given.items() if document in text)
        known = [set(fold_text(value).split()) for value, _ in listed(text)]
        found = [
            row
            for row in rows
            if _seen(str(row[0]), misses)
            or any(
                _alike(set(fold_text(str(row[0])).split()), words) for words in known
            )
        ]
        return json.dumps({"entities": found})

    return read


def _seen(form: str, misses: float) -> bool:
    """Say whether a reader sees a form unaided: by its hash, so in every run alike."""
    return blake2b(form.encode(), digest_size=1).digest()[0] >= 256 * misses


def _alike(one: set[str], two: set[str]) -> bool:
    return len(one & two) * 2 >= min(len(one), len(two))


def listed(text: str) -> list[tuple[str, str]]:
    """Return the known entities that a prompt shows."""
    _, _, rest = text.partition(_LISTED)
    row = rest.strip().partition("\n")[0]
    return [(str(value), str(type_)) for value, type_ in json.loads(row or "[]")]


def chain_scores(
    clusters: Sequence[Cluster], edge: float, risk: float
) -> tuple[float, float, float]:
    """
    Return precision, recall and F1 of the chains marked as dangerous (Figure 4.4).

    Args:
        clusters: With their linked pairs, which are the hand-labelled chains.
        edge: `EDGE_STRENGTH_THRESHOLD`.
        risk: `RISK_THRESHOLD`, from which a chain is MEDIUM.
    """
    found = _assessed(clusters, LinkageSection(edge_threshold=edge))
    dangerous = {
        frozenset(chain.documents) for chain in found.chain_list if chain.risk >= risk
    }
    return link_scores(dangerous, _gold(clusters))


def folds(
    clusters: Sequence[Cluster], settings: Sequence[LinkageSection], count: int = 5
) -> tuple[float, float, float]:
    """
    Return precision, recall and F1 of links under settings chosen on the other folds.

    The corpus is always the whole, for rarity is a property of it; what is chosen and
    what is scored are the pairs of some clusters.

    Args:
        clusters: With their linked pairs.
        settings: To choose from; the first of equals is taken.
        count: How many folds; cluster n is in fold n modulo this.
    """
    links = [_links(_assessed(clusters, one)) for one in settings]
    parts = [clusters[number::count] for number in range(count)]
    found: set[Pair] = set()
    for number, part in enumerate(parts):
        others = [c for n, rest in enumerate(parts) if n != number for c in rest]
        scores = [link_scores(_within(one, others), _gold(others))[2] for one in links]
        found |= _within(links[scores.index(max(scores))], part)
    return link_scores(found, _gold(clusters))


def _assessed(clusters: Sequence[Cluster], settings: LinkageSection) -> Assessment:
    documents = [document for cluster in clusters for document in cluster.documents]
    return assess(documents, mentions_of(clusters), settings)


def _links(assessment: Assessment) -> set[Pair]:
    return {frozenset((link.first, link.second)) for link in assessment.links}


def _within(links: set[Pair], clusters: Sequence[Cluster]) -> set[Pair]:
    """Return the links that touch a document of some clusters."""
    ids = {document.id for cluster in clusters for document in cluster.documents}
    return {pair for pair in links if pair & ids}


def _gold(clusters: Sequence[Cluster]) -> set[Pair]:
    return {pair for cluster in clusters for pair in cluster.linked_pairs or ()}
