"""
CLAM's experiments as far as they run without a hosted model (chapters 4.2.5 and 5).

    python benchmarks/linkage_thesis.py             all of it
    python benchmarks/linkage_thesis.py attacks     one section: attacks, filter, grid,
                                                    folds or others

Where a model is to take part, the functions of `linkage_experiments` take any callable:
`retrieval.over` for the application, `attacks.attack(judge=...)` for the judge,
`tuning.filter_curve(read=...)` for the extractor, `generation.ClusterWriter` for the
generator. The thesis's clusters are not public; these are the packaged ones and those
next to them.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.linkage_experiments.attacks import Attacked, attack, utility
from benchmarks.linkage_experiments.baselines import blanket
from benchmarks.linkage_experiments.retrieval import Retrieval, taken_over
from benchmarks.linkage_experiments.tuning import (
    chain_scores,
    filter_curve,
    folds,
    limited_reader,
)
from benchmarks.suites.linkage import evaluate_linkage, mentions_of
from benchmarks.suites.linkage_clusters import (
    Cluster,
    packaged_clusters,
    read_clusters,
)
from sdrag.linkage.assessment import assess
from sdrag.linkage.masking import mask_corpus
from sdrag.policy import LinkageSection, ResolutionSection
from sdrag.vocabulary import Passage

BESIDE = Path(__file__).with_name("linkage_clusters")
KINDS = ("specific/single", "specific/multi", "general/single", "general/multi")


def attacks() -> None:
    """Figures 5.1 and 5.2 and Tables 5.3 and B.2, against what says all it is given."""
    clusters = packaged_clusters()
    documents = [document for cluster in clusters for document in cluster.documents]
    mentions = mentions_of(clusters)
    indexes: dict[str, Sequence[Passage]] = {"verbatim": documents}
    for select in ("document", "greedy", "knapsack"):
        masked = mask_corpus(documents, {"select": select}, mentions=mentions)
        indexes[select] = masked.documents
    indexes["blanket"] = blanket(documents, mentions)
    forms = {
        (entity.type, form): entity.forms
        for entity in assess(documents, mentions).resolved.entities
        for form in entity.forms
    }
    print("\nMIA and targeted leak rates of HIGH and MEDIUM, clusters leaked, ROUGE-1")
    print("index       MIA  targeted  leaked  " + "  ".join(KINDS))
    types: dict[str, Counter[str]] = {}
    for name, index in indexes.items():
        rag = taken_over(Retrieval(index))
        found = [attack(cluster, rag, forms=forms) for cluster in clusters]
        types[name] = sum((Counter(one.types) for one in found), Counter[str]())
        _row(name, found, utility(clusters, rag)["rouge1_recall"])
    print("\nTable B.2, entities leaked by type: of, " + ", ".join(indexes))
    total = Counter(type_ for cluster in clusters for _, type_ in cluster.person)
    for type_, count in sorted(total.items()):
        print(f"{type_:20}{count:4}", *(f"{types[name][type_]:4}" for name in indexes))


def _row(name: str, found: Sequence[Attacked], recall: Mapping[str, float]) -> None:
    risky = [one for one in found if one.risk != "LOW"]
    rates = fmean(one.membership for one in risky), fmean(o.targeted for o in risky)
    leaked = sum(one.leaked for one in found)
    kinds = "".join(f"{recall.get(kind, 0.0):17.3f}" for kind in KINDS)
    print(f"{name:10}{rates[0]:5.3f}{rates[1]:10.3f}{leaked:8}{kinds}")


def filtering() -> None:
    """Figure 4.2, with a reader that overlooks two entities of five."""
    clusters = packaged_clusters()
    print("\nFigure 4.2: type filter, strength, ROUGE-1 F1, known entities shown")
    strengths = [number / 10 for number in range(11)]
    reader = limited_reader(clusters)
    for by_type, strength, score, count in filter_curve(clusters, reader, strengths):
        print(f"{'on' if by_type else 'off':4}{strength:5.1f}{score:8.3f}{count:8.1f}")


def grid() -> None:
    """Figure 4.4: F1 of dangerous chains by both thresholds."""
    clusters = packaged_clusters() + read_clusters(BESIDE / "development")
    edges, risks = (0.2, 0.3, 0.4, 0.45, 0.5, 0.6), (0.0, 0.3, 0.4, 0.5, 0.6)
    print("\nFigure 4.4, F1; down EDGE_STRENGTH_THRESHOLD, across RISK_THRESHOLD")
    print("      " + "".join(f"{risk:7.2f}" for risk in risks))
    for edge in edges:
        row = (chain_scores(clusters, edge, risk)[2] for risk in risks)
        print(f"{edge:6.2f}" + "".join(f"{value:7.3f}" for value in row))


def by_folds() -> None:
    """Links of the packaged clusters, thresholds chosen on the other four fifths."""
    choices = [
        LinkageSection(
            resolution=ResolutionSection(meaning=meaning, terms=terms, context=context)
        )
        for meaning, terms, context in itertools.product(
            (0.56, 0.5, 0.62), (0.68, 0.62, 0.74), (0.38, 0.34, 0.42)
        )
    ]
    precision, recall, score = folds(packaged_clusters(), choices)
    print(f"\nfolds: precision {precision:.4f}, recall {recall:.4f}, F1 {score:.4f}")


def others() -> None:
    """Links of other domains: those for development, the unseen, and all at once."""
    parts: dict[str, tuple[Cluster, ...]] = {
        name: read_clusters(BESIDE / name) for name in ("development", "unseen")
    }
    parts["all"] = packaged_clusters() + parts["development"] + parts["unseen"]
    for name, clusters in parts.items():
        links = evaluate_linkage(clusters, LinkageSection())["links"]
        print(name, {key: round(value, 4) for key, value in links.items()})


def main() -> None:
    """Run the sections that were asked for."""
    sections: dict[str, Callable[[], None]] = {
        "attacks": attacks,
        "filter": filtering,
        "grid": grid,
        "folds": by_folds,
        "others": others,
    }
    for name in sys.argv[1:] or sections:
        sections[name]()


if __name__ == "__main__":
    main()
