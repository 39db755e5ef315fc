"""
CLAM measured: links, the frontier of leakage against masks, growth, and speed.

    python benchmarks/linkage.py             everything but the million
    python benchmarks/linkage.py --full      also 1,000,000 documents
    python benchmarks/linkage.py growth      one section: links, frontier, chains,
                                             thresholds, attacker, update,
                                             growth, literal or text

Where the thesis tabulates the same thing its figure is next to ours. Its clusters
are not public and its extractor is a model: ours are the packaged and the generated
ones, with entities given, so figures compare in direction and not in size. Times are
of the process, on one core.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import re
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from linkage_literal import Literal

from benchmarks.linkage_experiments.generated import generate_clusters, zipf_corpus
from benchmarks.suites.linkage import evaluate_linkage, mentions_of
from benchmarks.suites.linkage_clusters import Cluster, packaged_clusters
from sdrag.detectors.local import LocalDetector
from sdrag.linkage.assessment import assess
from sdrag.linkage.fitting import fit
from sdrag.linkage.masking import mask_corpus
from sdrag.linkage.planning import plan_masking
from sdrag.linkage.replacing import Masker
from sdrag.policy import LinkageSection, ResolutionSection
from sdrag.vocabulary import Entity, Passage

OFF = ResolutionSection(
    names=False, dates=False, numbers=False, spelling=False, meaning=False, terms=False
)
HEAD = (
    "strategy            masked   HIGH  MEDIUM leaked  attacker  "
    "specific    general      seconds"
)
"""Leak rates by risk, clusters leaked, links that the attacker finds before and after,
and answers kept: single and multi, specific and general."""
LABEL = re.compile(r"\[[A-Z_]+\]")
STRUCTURAL = ResolutionSection(meaning=False, terms=False)
"""Generated facts are alike in wording by construction, so meaning is left out."""


def generated(count: int = 50) -> list[Cluster]:
    """Return the model-free clusters that every table is measured on."""
    return [Cluster.of(cluster) for cluster in generate_clusters(count, seed=1)]


def links() -> None:
    """Table 5.1: the thesis reports recall 0.79, precision 0.56, F1 0.65."""
    print("\nTable 5.1, links            recall precision   F1  inter/intra")
    print("thesis, three test sets       0.79      0.56 0.65  0-1/16-30")
    for name, clusters, resolution in (
        ("packaged, verbatim forms", packaged_clusters(), OFF),
        ("packaged, resolved", packaged_clusters(), ResolutionSection()),
        ("generated, verbatim forms", generated(), OFF),
        ("generated, resolved", generated(), STRUCTURAL),
    ):
        settings = LinkageSection(resolution=resolution)
        found = evaluate_linkage(clusters, settings)["links"]
        print(
            f"{name:28}{found['recall']:6.2f}{found['precision']:10.2f}"
            f"{found['f1']:5.2f}  {found['inter']}/{found['intra']}"
        )


def frontier() -> None:
    """Tables 6.3 and 6.4, and greedy against knapsack, which the thesis promised."""
    print("\nTables 6.3 and 6.4, on 50 generated clusters")
    print("thesis: full 245 masked, leakage 0.634; theta_doc 0.95 223, 0.669;")
    print("        0.90 318, 0.590; 0.85 398, 0.531; 0.80 463, 0.489")
    print(HEAD)
    clusters = generated()
    found = {}
    steps = [
        (f"theta_doc {ceiling}", {"select": "document", "max_document_risk": ceiling})
        for ceiling in (0.95, 0.90, 0.85, 0.80, 0.70, 0.60, 0.50, 0.40)
    ] + [(name, {"select": name}) for name in ("greedy", "knapsack")]
    for name, change in steps:
        settings = LinkageSection(resolution=STRUCTURAL).model_copy(update=change)
        began = time.process_time()
        found[name] = evaluate_linkage(clusters, settings)
        row(name, found[name], time.process_time() - began)
    base = found["theta_doc 0.95"]
    print("Table 6.4, change from theta_doc 0.95 (masked, leakage, then as below)")
    print("                    specific single, multi, general single, multi")
    thesis = {
        "knapsack": "thesis  +9.9 -5.2   -8.5 -14.7  -2.2  -6.4",
        "theta_doc 0.9": "thesis +42.6 -11.8 -24.6 -13.8  -5.4 -13.7",
    }
    for name in ("greedy", "knapsack", "theta_doc 0.9"):
        changes(base, found[name], name, thesis.get(name, ""))


def row(name: str, found: dict[str, Any], seconds: float) -> None:
    """Print one line of a table."""
    leak, kept, attacker = (
        found["leak_rate"],
        found["answers_kept"],
        found["attacker"],
    )
    answers = "".join(
        f"{kept[type_].get(source, 0.0):6.2f}"
        for type_ in ("specific", "general")
        for source in ("single", "multi")
    )
    print(
        f"{name:20}{found['masked_entities']:6}{leak['HIGH']:7.3f}"
        f"{leak['MEDIUM']:8.3f}{found['leaked_clusters']:7}"
        f"{attacker['links_before']:6}>{attacker['links_after']:<4}{answers}"
        f"{seconds:8.1f}"
    )


def chains() -> None:
    """Tables 6.1 and 6.2: what longer chains cost and bring."""
    print("\nTables 6.1 and 6.2, chain length, on 50 generated clusters")
    print("thesis: masked 245, 260, 283; leakage 0.634, 0.628, 0.609")
    print("        specific 0.421/0.278, 0.389/0.270, 0.386/0.266")
    print("        general  0.784/0.498, 0.765/0.437, 0.764/0.430")
    print(HEAD)
    found = {}
    for length in (2, 3, 4):
        settings = LinkageSection(resolution=STRUCTURAL, chain_length=length)
        began = time.process_time()
        found[length] = evaluate_linkage(generated(), settings)
        row(f"length {length}", found[length], time.process_time() - began)
    changes(found[2], found[3], "2 to 3", "thesis +6.1 -1.0   -7.6  -2.9  -2.4 -12.3")
    changes(found[3], found[4], "3 to 4", "thesis +8.9 -3.0   -0.8  -1.5  -0.1  -1.6")
    bounded()


def bounded() -> None:
    """Chains of four documents under a bound: what was not enumerated is said."""
    corpus = zipf_corpus(2000)
    for bound in (10_000, 1_000_000):
        section = LinkageSection(chain_length=4, max_chains=bound)
        seconds, plan = timed(lambda held=section: plan_masking(corpus, held))
        print(
            f"2,000 documents, at most {bound:,} chains: {len(plan.chains):,} held, "
            f"not enumerated {dict(plan.chains.left_out)}, "
            f"{int(plan.masked.sum())} masked, {seconds:.1f} s"
        )


def changes(
    one: dict[str, Any], two: dict[str, Any], name: str, thesis: str = ""
) -> None:
    """Print what changed, in percent: masked, leakage, and the four kinds kept."""
    before, after = figures(one), figures(two)
    parts = [
        f"{100 * (new - old) / old:+6.1f}" if old else "     -"
        for old, new in zip(before, after, strict=True)
    ]
    print(f"  {name:14} %{''.join(parts)}  {thesis}")


def figures(found: dict[str, Any]) -> list[float]:
    """Return masked, mean leak rate of HIGH and MEDIUM, and answers kept by kind."""
    leak, kept = found["leak_rate"], found["answers_kept"]
    kinds = [
        kept[type_].get(source, 0.0)
        for type_ in ("specific", "general")
        for source in ("single", "multi")
    ]
    return [found["masked_entities"], (leak["HIGH"] + leak["MEDIUM"]) / 2, *kinds]


def thresholds() -> None:
    """Figures 4.3 and 4.5: edges by threshold, and both ceilings."""
    print("\nFigure 4.3, edges by threshold, inter/intra")
    for threshold in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        settings = LinkageSection(resolution=STRUCTURAL, edge_threshold=threshold)
        found = evaluate_linkage(generated(), settings)["links"]
        print(f"  {threshold}: {found['inter']}/{found['intra']}, F1 {found['f1']:.2f}")
    print("Figure 4.5, ceilings on documents and chains")
    for document, chain in itertools.product((0.85, 0.9, 0.95), (0.4, 0.5, 0.6)):
        settings = LinkageSection(
            resolution=STRUCTURAL, max_document_risk=document, max_chain_risk=chain
        )
        row(f"doc {document} chain {chain}", evaluate_linkage(generated(), settings), 0)


def attacker() -> None:
    """Read the masked corpus with the resolver and the local detector alone."""
    print("\nA linkage attacker on the packaged clusters: links right, wrong, missed")
    detector = LocalDetector()
    clusters = packaged_clusters()
    gold = {pair for one in clusters for pair in one.linked_pairs or ()}
    documents = [document for one in clusters for document in one.documents]
    print("nothing masked   ", attacked(clusters, documents, detector, gold))
    for select in ("document", "greedy", "knapsack"):
        settings = LinkageSection(select=select)
        masked = mask_corpus(documents, settings, mentions=mentions_of(clusters))
        found = attacked(clusters, masked.documents, detector, gold)
        print(f"{select:17}", found)


def attacked(
    clusters: Sequence[Cluster],
    documents: Sequence[Passage],
    detector: LocalDetector,
    gold: set[frozenset[str]],
) -> tuple[int, int, int]:
    """Return the attacker's links that are right, wrong, and those it misses."""
    # Labels say nothing about anybody, but a detector would read them as words.
    texts = {d.id: replace(d, text=LABEL.sub("\u2026", d.text)) for d in documents}
    seen = [
        replace(one, documents=tuple(texts[d.id] for d in one.documents))
        for one in clusters
    ]
    blank = [document for one in seen for document in one.documents]
    found = assess(blank, mentions_of(seen, detector)).links
    pairs = {frozenset((link.first, link.second)) for link in found}
    return len(pairs & gold), len(pairs - gold), len(gold - pairs)


def update(count: int = 1000) -> None:
    """Follow one new document, against fitting anew."""
    clusters = generated(count)
    documents = [document for one in clusters for document in one.documents]
    mentions = mentions_of(clusters)
    fresh, fitted = timed(lambda: fit(documents, mentions=mentions))
    new = Passage("new", documents[0].text)
    given = [mentions[documents[0].id]]
    again, _ = timed(lambda: fitted.updated([new], mentions=given))
    print(
        f"\n{len(documents):,} documents: fit {fresh:.1f} s, one more {again:.1f} s "
        "of the process (what was found and embedded is kept)"
    )


def growth(sizes: tuple[int, ...]) -> None:
    """Analysis and plan (knapsack, chain length 2) on generated corpora."""
    print("\nGrowth: ten mentions a document, Zipf 1.05, relevance 0.3 to 1, seed 0")
    print("documents  mentions     edges   masked seconds  peak MB")
    work, spent = [], []
    for size in sizes:
        corpus = zipf_corpus(size)
        began = time.process_time()
        plan = plan_masking(corpus, LinkageSection())
        seconds = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        rows = len(corpus.entity)
        print(
            f"{size:9}{rows:10}{plan.links_before:10}{plan.masked.sum():9}"
            f"{seconds:8.2f}{peak:9}"
        )
        work.append(math.log(rows + plan.links_before))
        spent.append(math.log(seconds))
    exponent = np.polyfit(work, spent, 1)[0]
    print(f"exponent of time against mentions plus edges: {exponent:.2f} (aim < 1.1)")


def literal(size: int = 5000) -> None:
    """A literal reading of chapter 4 against the engine: is the plan the same?"""
    print(f"\nA literal reading at {size} documents")
    corpus, settings = zipf_corpus(size), LinkageSection(select="greedy")
    fast, plan = timed(lambda: plan_masking(corpus, settings))
    slow, masked = timed(lambda: Literal(corpus, settings).plan())
    same = masked == set(np.flatnonzero(plan.masked).tolist())
    print(f"engine {fast:.2f} s, literal {slow:.1f} s, {slow / fast:.0f} times")
    print(f"the same plan: {same}, {len(masked)} entities")
    if not same:
        raise SystemExit("The plans differ.")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that some work took, and its result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def text(megabytes: int = 20, forms: int = 10_000) -> None:
    """Apply a plan to text: the masker with ten thousand forms, one core."""
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghij", k=7)) for _ in range(50_000)]
    entities = [
        Entity(f"e{n}", "NAME", (f"{words[n].title()} {words[n + 1].title()}",))
        for n in range(forms)
    ]
    masker = Masker(entities)
    documents = []
    while sum(map(len, documents)) < megabytes * 1_000_000:
        body = [draw.choice(words) for _ in range(20_000)]
        body[::100] = [draw.choice(entities).forms[0] for _ in body[::100]]
        documents.append(" ".join(body))
    began = time.process_time()
    spans = sum(len(masker.replace(document).spans) for document in documents)
    seconds = time.process_time() - began
    rate = sum(map(len, documents)) / 1e6 / seconds
    print(f"\nApplying a plan: {rate:.0f} MB/s, {spans} spans, {forms} forms (aim 20)")


def main() -> None:
    """Run the sections that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("section", nargs="?", default="all")
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    sizes = (10_000, 30_000, 100_000, *((1_000_000,) if options.full else ()))
    sections: dict[str, Callable[[], None]] = {
        "links": links,
        "frontier": frontier,
        "chains": chains,
        "thresholds": thresholds,
        "attacker": attacker,
        "update": update,
        "growth": lambda: growth(sizes),
        "literal": literal,
        "text": text,
    }
    for name, section in sections.items():
        if options.section in {name, "all"}:
            section()


if __name__ == "__main__":
    main()
