"""
`sdrag eval`: one command for each suite, in the order of their names.

`evaluate_rcqa` holds the largest suite. Heavy imports are inside the commands, so
that `sdrag --help` is quick.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sdrag.cli.evaluate_rcqa import rcqa
from sdrag.cli.models import complete_with
from sdrag.cli.options import Articles, AsJson, Errors, Limit, TopK
from sdrag.cli.output import show, show_errors
from sdrag.cli.suite import Figures, suite
from sdrag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdrag.evaluation.answers import TriedAnswer
    from sdrag.evaluation.wordings import TriedWording

__all__ = ["evaluate"]

evaluate = typer.Typer(
    help="Measure; with --json the last line printed is one JSON object.",
    no_args_is_help=True,
)

MinWords = Annotated[int, typer.Option(min=1, help="Of a highlight.")]
MinSentenceWords = Annotated[
    int, typer.Option(min=1, help="Of a highlight of whole sentences.")
]
CutAt = Annotated[str, typer.Option(help="words, scope or sentences.")]


@evaluate.command()
@suite
def answers(
    data: Annotated[
        Path | None, typer.Option(help="JSON lines; the shipped ones when missing.")
    ] = None,
    part: Annotated[
        Literal["all", "development", "aside"],
        typer.Option(help="All pairs, those to develop on, or those set aside."),
    ] = "all",
    errors: Errors = 0,
    as_json: AsJson = False,
) -> Figures:
    """Give claims that are true to a source, and claims turned around, to the guard."""
    from sdrag.evaluation.answers import evaluate_answers, read_answers

    rows = read_answers(data, part)
    return show(
        evaluate_answers(rows, partial(_show_mistaken, errors)), as_json=as_json
    )


@evaluate.command()
@suite
def contradiction(
    data: Annotated[
        Path, typer.Option(help="JSON lines of claim, evidence, gold_label.")
    ],
    threshold: Annotated[float, typer.Option(help="The least certainty.")] = 0.5,
    as_json: AsJson = False,
) -> Figures:
    """Measure the local rules on refuting evidence: accuracy."""
    from sdrag.evaluation.claim_evidence import measure_contradiction, read_pairs

    return show(measure_contradiction(read_pairs(data), threshold), as_json=as_json)


@evaluate.command()
@suite
def control(
    corpus: Annotated[
        Path, typer.Option(help="Passages: JSON, JSONL, SQuAD, or a folder of .txt.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(help="A JSON list of attack strings; none are tried without."),
    ] = None,
    min_words: MinWords = 5,
    min_sentence_words: MinSentenceWords = 3,
    max_highlights: Annotated[int, typer.Option(min=1, help="Of one answer.")] = 20,
    cut_at: CutAt = "scope",
    tokens: Annotated[int, typer.Option(min=1, help="Of a plain prompt.")] = 1_000,
    vocabulary: Annotated[int, typer.Option(min=1, help="Of its tokens.")] = 100_000,
    scan: Annotated[
        Path | None,
        typer.Option(help="Also scan the corpus for orders; JSONL report."),
    ] = None,
    classifier: Annotated[
        bool,
        typer.Option(help="Scan with the local classifier too, not patterns only."),
    ] = False,
    as_json: AsJson = False,
) -> Figures:
    """Attack verification, bound what is left to choose, scan the corpus."""
    from sdrag.evaluation.control_bits import (
        evaluate_control,
        read_attacks,
        read_corpus,
    )
    from sdrag.knowledge_base import scan_passages, scan_to
    from sdrag.policy import Policy

    section = {
        "min_words": min_words,
        "min_sentence_words": min_sentence_words,
        "max_highlights": max_highlights,
        "cut_at": cut_at,
    }
    rules = Policy.read({"highlight": section}).highlight
    passages = read_corpus(corpus)
    result = evaluate_control(
        read_attacks(data) if data else [],
        passages,
        rules,
        tokens=tokens,
        vocabulary=vocabulary,
    )
    if scan is not None:
        scanned = {"highlight": section, "injection": {"local_classifier": classifier}}
        with typer.progressbar(passages, label="Scanning", file=sys.stderr) as shown:
            result["scan"] = scan_to(scan, scan_passages(shown, scanned))
    return show(result, as_json=as_json)


@evaluate.command()
@suite
def differential(
    data: Articles = None, limit: Limit = None, top_k: TopK = 4, as_json: AsJson = False
) -> Figures:
    """Replay question sets, and subtract one answer from another."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.differential import evaluate_differential

    articles = load_articles(data)[:limit]
    return show(evaluate_differential(articles, top_k=top_k), as_json=as_json)


@evaluate.command()
@suite
def entities(
    data: Annotated[Path, typer.Option(help="Annotated texts, JSON or JSON lines.")],
    engine: Annotated[
        Literal["local", "rules"],
        typer.Option(help="All of the local engine that is installed, or its rules."),
    ] = "local",
    part: Annotated[
        Literal["all", "tuning", "aside"],
        typer.Option(help="All documents, two thirds to tune on, or the other third."),
    ] = "all",
    errors: Errors = 0,
    as_json: AsJson = False,
) -> Figures:
    """Measure a detector of what identifies people on annotated texts."""
    from sdrag.detectors.local import LocalDetector
    from sdrag.detectors.tagger import TaggerDetector, available
    from sdrag.engine.effect_runner import PortRunner, Ports
    from sdrag.evaluation.entities import measure, missed, read_annotated

    documents = [
        document
        for number, document in enumerate(read_annotated(data))
        if part == "all" or (number % 3 == 2) == (part == "aside")
    ]
    tagged = engine == "local" and available()
    detector = TaggerDetector() if tagged else LocalDetector()
    runner = PortRunner(Ports())
    if errors:
        show_errors(missed(detector, documents, runner), errors)
    return show(measure(detector, documents, runner), as_json=as_json)


@evaluate.command()
@suite
def eviction(
    data: Articles = None, limit: Limit = None, top_k: TopK = 8, as_json: AsJson = False
) -> Figures:
    """Search for wordings of a question that push needed constraints below K."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.eviction import evaluate_eviction

    articles = load_articles(data)[:limit]
    return show(evaluate_eviction(articles, chunks=top_k), as_json=as_json)


@evaluate.command()
@suite
def grounding(
    data: Annotated[Path, typer.Option(help="JSON lines of claim, evidence, label.")],
    threshold: Annotated[
        float, typer.Option(help="The least support that counts.")
    ] = 0.5,
    as_json: AsJson = False,
) -> Figures:
    """Measure the local scorer of support: AUC, F1, and the sentences it cites."""
    from sdrag.evaluation.claim_evidence import measure_grounding, read_cases

    return show(measure_grounding(read_cases(data), threshold), as_json=as_json)


@evaluate.command()
@suite
def highlight(
    data: Annotated[
        Path,
        typer.Option(help="SQuAD, RepliQA or BioASQ, as JSON or JSON lines."),
    ],
    corpus: Annotated[
        Path | None,
        typer.Option(help="The passages that rag-mini-bioasq names by their ids."),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="local, or langchain:PROVIDER:MODEL.")
    ] = "local",
    highlighter: Annotated[
        str,
        typer.Option(help="local, baseline, structured, two_steps or span."),
    ] = "",
    cut_at: CutAt = "scope",
    min_words: MinWords = 5,
    min_sentence_words: MinSentenceWords = 3,
    as_json: AsJson = False,
) -> Figures:
    """Measure highlights against the gold passage, and declining."""
    from sdrag.engine.calls import Port
    from sdrag.engine.effect_runner import PortRunner, Ports
    from sdrag.evaluation.highlight import evaluate_highlighter
    from sdrag.evaluation.highlight_data import read_questions
    from sdrag.highlight.exchange import Settings
    from sdrag.highlight.highlighters import highlighter_named
    from sdrag.policy import Policy

    complete = complete_with(engine)
    name = highlighter or ("structured" if complete else "local")
    if complete is None and name != "local":
        raise UsageError("That highlighter asks a model.", hint="Pass --engine.")
    section = {
        "cut_at": cut_at,
        "min_words": min_words,
        "min_sentence_words": min_sentence_words,
    }
    rules = Policy.read({"highlight": section})
    settings = Settings(highlighter_named(name), rules.highlight)
    runner = PortRunner(Ports(complete=Port(complete) if complete else None))
    result = evaluate_highlighter(read_questions(data, corpus), settings, runner)
    return show({"highlighter": name, "cut_at": cut_at, **result}, as_json=as_json)


@evaluate.command()
@suite
def injection(
    data: Annotated[Path, typer.Option(help="JSON lines of text and label.")],
    threshold: Annotated[
        float, typer.Option(help="The least score that counts.")
    ] = 0.5,
    patterns_only: Annotated[
        bool, typer.Option("--patterns-only", help="Leave the trained head out.")
    ] = False,
    as_json: AsJson = False,
) -> Figures:
    """Measure the injection scan: precision, recall, false positives, AUC."""
    from sdrag.evaluation.injection import measure, read_examples
    from sdrag.policy import InjectionSection

    section = InjectionSection(threshold=threshold, local_classifier=not patterns_only)
    return show(measure(read_examples(data), section), as_json=as_json)


@evaluate.command()
@suite
def linkage(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Clusters in the thesis's schema; the package's own if none."
        ),
    ] = None,
    entities: Annotated[
        Literal["given", "local"], typer.Option(help="Given by the data, or found.")
    ] = "given",
    select: Annotated[
        Literal["document", "greedy", "knapsack"] | None,
        typer.Option(
            help="How entities are selected; as the policy says if not given."
        ),
    ] = None,
    chain_length: Annotated[
        int | None,
        typer.Option(min=2, max=8, help="Documents in the longest chain; likewise."),
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="A policy, for its linkage section.")
    ] = None,
    as_json: AsJson = False,
) -> Figures:
    """Measure what links documents, and what masking leaves."""
    from sdrag.detectors.local import LocalDetector
    from sdrag.evaluation.linkage import evaluate_linkage
    from sdrag.evaluation.linkage_clusters import packaged_clusters, read_clusters
    from sdrag.linkage.settings import read_settings

    clusters = packaged_clusters() if data is None else read_clusters(data)
    given = {"select": select, "chain_length": chain_length}
    settings = read_settings(policy).model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    detector = LocalDetector() if entities == "local" else None
    return show(evaluate_linkage(clusters, settings, detector), as_json=as_json)


@evaluate.command()
@suite
def ranking(
    data: Articles = None,
    top_k: TopK = 8,
    bind_top_n: Annotated[
        int, typer.Option(min=1, help="Chunks each constraint is bound to.")
    ] = 50,
    as_json: AsJson = False,
) -> Figures:
    """Rank the constraints of every question, all articles being one corpus."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.constraint_ranking import evaluate_ranking

    result = evaluate_ranking(load_articles(data), top_k=top_k, bind_top_n=bind_top_n)
    return show(result, as_json=as_json)


evaluate.command()(suite(rcqa))


@evaluate.command("retrieval-oracle")
@suite
def retrieval_oracle(
    data: Articles = None, limit: Limit = None, as_json: AsJson = False
) -> Figures:
    """Compare true values with decoys, by ids and scores; and what a view costs."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.retrieval_oracle import evaluate_retrieval_oracle

    return show(evaluate_retrieval_oracle(load_articles(data)[:limit]), as_json=as_json)


@evaluate.command()
@suite
def wordings(
    data: Annotated[
        Path | None, typer.Option(help="JSON lines; the shipped ones when missing.")
    ] = None,
    errors: Errors = 0,
    as_json: AsJson = False,
) -> Figures:
    """Try wordings of constraints on texts, with the local engine alone."""
    from sdrag.evaluation.wordings import evaluate_wordings, read_wordings

    result = evaluate_wordings(read_wordings(data), partial(_show_failures, errors))
    return show(result, as_json=as_json)


def _show_failures(limit: int, tried: Sequence[TriedWording]) -> None:
    """Show what was released, and what was refused and should be enforced."""
    failures = (
        {
            "kind": f"{case.result}, {case.wording['group']}",
            "before": case.wording["constraint"],
            "text": "; ".join(case.wording["secret"]),
            "after": case.left,
        }
        for case in tried
        if case.result == "released"
        or (case.result == "refused" and case.wording["expect"] == "enforce")
    )
    if limit:
        show_errors(failures, limit)


def _show_mistaken(limit: int, tried: Sequence[TriedAnswer]) -> None:
    """Show the false claims that passed, and the true ones that did not."""
    mistaken = (
        {
            "kind": f"{'true' if case.row.supported else 'false'}, {case.row.kind}",
            "before": case.row.source,
            "text": case.row.claim,
            "after": "passed" if case.passed["grounding"] else "not passed",
        }
        for case in tried
        if case.passed["grounding"] != case.row.supported
    )
    if limit:
        show_errors(mistaken, limit)
