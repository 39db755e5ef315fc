"""
The suites: one command for each, in the order of their names.

    python -m benchmarks.suites rcqa --data benchmarks/articles/unseen --json

`rcqa_command` holds the largest. Run them from the folder of the checkout.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from benchmarks.suites.printing import (
    Articles,
    AsJson,
    Errors,
    TopK,
    show,
    show_errors,
)
from benchmarks.suites.rcqa_command import rcqa
from sdrag.errors import SdragError, UsageError
from sdrag.studio.cli.common import llm_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.suites.answers import TriedAnswer
    from benchmarks.suites.carriers import TriedCase
    from benchmarks.suites.wordings import TriedWording

app = typer.Typer(
    help="Measure; with --json the last line printed is one JSON object.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

MinWords = Annotated[int, typer.Option(min=1, help="Of a highlight.")]
MinSentenceWords = Annotated[
    int, typer.Option(min=1, help="Of a highlight of whole sentences.")
]
CutAt = Annotated[str, typer.Option(help="words or sentences.")]


@app.command()
def adversary(
    data: Articles = None,
    first: Annotated[
        int | None, typer.Option(min=1, help="So many articles; all if not given.")
    ] = None,
    top_k: TopK = 5,
    as_json: AsJson = False,
) -> None:
    """Ask 1, 5, 20 and 100 questions: what can be named, and what honest users get."""
    from benchmarks.suites.adversary import measure_adversary
    from benchmarks.suites.json_files import DATA
    from benchmarks.suites.linkage_clusters import packaged_clusters
    from sdrag.studio.evaluation.articles import read_articles

    articles = read_articles(data or DATA / "articles")[:first]
    show(measure_adversary(articles, packaged_clusters(), top_k), as_json=as_json)


@app.command()
def answers(
    data: Annotated[
        Path | None, typer.Option(help="JSON lines; the packaged ones when missing.")
    ] = None,
    part: Annotated[
        Literal["all", "development", "aside"],
        typer.Option(help="All pairs, those to develop on, or those set aside."),
    ] = "all",
    claims: Annotated[
        Path | None,
        typer.Option(help="Sources with claims in other words, in place of --data."),
    ] = None,
    errors: Errors = 0,
    as_json: AsJson = False,
) -> None:
    """Give claims that are true to a source, and claims turned around, to the guard."""
    from benchmarks.suites.answers import evaluate_answers, read_answers, read_claims

    rows = read_claims(claims) if claims else read_answers(data, part)
    show(evaluate_answers(rows, partial(_show_mistaken, errors)), as_json=as_json)


@app.command()
def carriers(
    data: Annotated[
        Path | None, typer.Option(help="JSON lines; the packaged sets when missing.")
    ] = None,
    errors: Errors = 0,
    as_json: AsJson = False,
) -> None:
    """Redact JSON, CSV, chats, forms and logs: secrets gone, words kept, form whole."""
    from benchmarks.suites.carriers import (
        evaluate_carriers,
        list_packaged,
        read_cases,
    )

    sets = {data.stem: data} if data else list_packaged()
    tried: list[TriedCase] = []
    results = {
        name: evaluate_carriers(read_cases(path), tried.append)
        for name, path in sets.items()
    }
    if errors:
        show_errors(map(_describe_case, filter(_fails, tried)), errors)
    show(results, as_json=as_json)


def _fails(tried: TriedCase) -> bool:
    """Return True if a secret stands, a word is lost, or the form is broken."""
    return bool(tried.left or tried.lost or tried.broken)


def _describe_case(tried: TriedCase) -> dict[str, str]:
    """Say what went wrong in a case, as `show_errors` prints it."""
    wrong = [*tried.left, *(f"-{word}" for word in tried.lost)]
    wrong += ["broken"] if tried.broken else []
    return {
        "kind": f"{tried.case['carrier']}, {tried.case['kind']}",
        "before": tried.case["text"],
        "text": "; ".join(wrong),
        "after": tried.released,
    }


@app.command()
def contradiction(
    data: Annotated[
        Path, typer.Option(help="JSON lines of claim, evidence, gold_label.")
    ],
    as_json: AsJson = False,
) -> None:
    """Measure the local rules on refuting evidence: accuracy."""
    from benchmarks.suites.claim_evidence import measure_contradiction, read_pairs

    show(measure_contradiction(read_pairs(data)), as_json=as_json)


@app.command()
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
    cut_at: CutAt = "sentences",
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
) -> None:
    """Attack verification, bound what is left to choose, scan the corpus."""
    from benchmarks.suites.control_bits import (
        evaluate_control,
        read_attacks,
        read_corpus,
    )
    from sdrag.policy import Policy
    from sdrag.studio.evaluation.corpus_scan import scan_passages, write_found

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
            alarms = list(write_found(scan, scan_passages(shown, scanned)))
        passages_with = {alarm.passage_id for alarm in alarms}
        result["scan"] = {"alarms": len(alarms), "passages": len(passages_with)}
    show(result, as_json=as_json)


@app.command()
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
) -> None:
    """Measure a detector of what identifies people on annotated texts."""
    from benchmarks.suites.entities import measure, missed, read_annotated
    from sdrag.detectors.local import LocalDetector
    from sdrag.detectors.tagger import TaggerDetector, available
    from sdrag.effects.runner import PortRunner, Ports

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
    show(measure(detector, documents, runner), as_json=as_json)


@app.command()
def examples(
    blind: Annotated[
        Path | None,
        typer.Option(help="A folder of policies with examples, in place of ours."),
    ] = None,
    stay: Annotated[
        int, typer.Option(min=0, help="Sentences beside the examples that stay.")
    ] = 0,
    sensitivity: Annotated[
        str | None, typer.Option(help="Of the policies of the folder.")
    ] = None,
    each: Annotated[bool, typer.Option(help="What each document lost.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure what examples teach, by none to six of them."""
    if blind:
        from benchmarks.readability.examples import measure_folder

        show(measure_folder(blind, sensitivity, each=each), as_json=as_json)
        return
    from benchmarks.suites.examples import evaluate_examples, read_held_out

    show(evaluate_examples(read_held_out(), stay=stay), as_json=as_json)


@app.command()
def grounding(
    data: Annotated[Path, typer.Option(help="JSON lines of claim, evidence, label.")],
    threshold: Annotated[
        float, typer.Option(help="The least support that counts.")
    ] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Measure the local scorer of support: AUC, F1, and the sentences it cites."""
    from benchmarks.suites.claim_evidence import measure_grounding, read_cases

    show(measure_grounding(read_cases(data), threshold), as_json=as_json)


@app.command()
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
    cut_at: CutAt = "sentences",
    min_words: MinWords = 5,
    min_sentence_words: MinSentenceWords = 3,
    as_json: AsJson = False,
) -> None:
    """Measure highlights against the gold passage, and declining."""
    from benchmarks.suites.highlight import evaluate_highlighter
    from benchmarks.suites.highlight_data import read_questions
    from sdrag.effects.calls import Port
    from sdrag.effects.runner import PortRunner, Ports
    from sdrag.highlight.exchange import Settings
    from sdrag.highlight.highlighters import highlighter_named
    from sdrag.policy import Policy

    model: Any = llm_of(engine, "--engine")
    name = highlighter or ("structured" if model else "local")
    if model is None and name != "local":
        raise UsageError("That highlighter asks a model.", hint="Pass --engine.")
    section = {
        "cut_at": cut_at,
        "min_words": min_words,
        "min_sentence_words": min_sentence_words,
    }
    rules = Policy.read({"highlight": section})
    settings = Settings(highlighter_named(name), rules.highlight)
    runner = PortRunner(Ports(complete=model and Port(model.complete)))
    result = evaluate_highlighter(read_questions(data, corpus), settings, runner)
    show({"highlighter": name, "cut_at": cut_at, **result}, as_json=as_json)


@app.command()
def injection(
    data: Annotated[
        Path, typer.Option(help="JSON or JSON lines: text or prompt, and label.")
    ],
    threshold: Annotated[
        float, typer.Option(help="The least score that counts.")
    ] = 0.5,
    patterns_only: Annotated[
        bool, typer.Option("--patterns-only", help="Leave the trained head out.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the injection scan: precision, recall, false positives, AUC."""
    from benchmarks.suites.injection import measure, read_examples
    from sdrag.guardrails.injection import InjectionSection

    section = InjectionSection(threshold=threshold, local_classifier=not patterns_only)
    show(measure(read_examples(data), section), as_json=as_json)


@app.command()
def linkage(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Clusters in the thesis's schema; the packaged ones if none."
        ),
    ] = None,
    entities: Annotated[
        Literal["given", "local", "exact"],
        typer.Option(
            help="Given by the data, found by rules, or by a model that is always right"
            " in two stages."
        ),
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
) -> None:
    """Measure what links documents, and what masking leaves."""
    from benchmarks.suites.linkage import evaluate_linkage
    from benchmarks.suites.linkage_clusters import packaged_clusters, read_clusters
    from benchmarks.suites.scripted.entities import ExactExtractor
    from sdrag.detectors.local import LocalDetector
    from sdrag.effects.calls import Port
    from sdrag.effects.runner import PortRunner, Ports
    from sdrag.framework import local_embeddings
    from sdrag.linkage.extractor import ModelExtractor
    from sdrag.linkage.schema import read_settings

    clusters = packaged_clusters() if data is None else read_clusters(data)
    given = {"select": select, "chain_length": chain_length}
    settings = read_settings(policy).model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    figures: dict[str, Any]
    if entities == "exact":
        ports = Ports(Port(ExactExtractor(clusters)), embed=local_embeddings())
        runner = PortRunner(ports)
        figures = evaluate_linkage(clusters, settings, ModelExtractor(), runner=runner)
    else:
        detector = LocalDetector() if entities == "local" else None
        figures = evaluate_linkage(clusters, settings, detector)
    show(figures, as_json=as_json)


@app.command()
def ranking(
    data: Articles = None,
    top_k: TopK = 8,
    bind_top_n: Annotated[
        int, typer.Option(min=1, help="Chunks each constraint is bound to.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """Rank the constraints of every question, all articles being one corpus."""
    from benchmarks.suites.constraint_ranking import evaluate_ranking
    from benchmarks.suites.json_files import load_articles

    result = evaluate_ranking(load_articles(data), top_k=top_k, bind_top_n=bind_top_n)
    show(result, as_json=as_json)


app.command()(rcqa)


@app.command()
def wordings(
    data: Annotated[
        Path | None, typer.Option(help="JSON lines; the packaged ones when missing.")
    ] = None,
    errors: Errors = 0,
    as_json: AsJson = False,
) -> None:
    """Try wordings of constraints on texts, with the local engine alone."""
    from benchmarks.suites.wordings import evaluate_wordings, read_wordings

    result = evaluate_wordings(read_wordings(data), partial(_show_failures, errors))
    show(result, as_json=as_json)


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


if __name__ == "__main__":
    try:
        app()
    except SdragError as error:
        sys.exit(f"{type(error).__name__}: {error}")
