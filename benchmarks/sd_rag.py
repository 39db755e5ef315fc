"""
Rerun the experiments of SD-RAG as far as an engine allows, next to the paper's figures.

    python benchmarks/sd_rag.py --out sd-rag.md
    python benchmarks/sd_rag.py --quick
    python benchmarks/sd_rag.py --only table1 --engine langchain:PROVIDER:MODEL \
        --generator PROVIDER:MODEL --judge PROVIDER:MODEL

Writes a Markdown file with tables, and plots next to it: Table I, figures 4 to 9,
Table II, and the attacks that the paper does not try. Without an engine, the local
one and a scripted model that returns exactly the right spans redact, and the generator
repeats all it is given: the worst a hijacked model can do. `--quick` takes few articles
and a faster model, to see that everything runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.curves import draw_curves
from benchmarks.sd_rag_scripted import every_second, nothing_found, right_spans
from benchmarks.suites.articles_check import load_articles
from benchmarks.suites.constraint_ranking import evaluate_ranking
from benchmarks.suites.differential import evaluate_differential
from benchmarks.suites.eviction import evaluate_eviction
from benchmarks.suites.rcqa import RcqaSettings, evaluate_rcqa, policy_of
from benchmarks.suites.retrieval_oracle import ENGINES, evaluate_retrieval_oracle
from sdrag.cli.models import complete_with, generator_of, judge_of
from sdrag.disclosure.hierarchy import add_summaries, in_layers
from sdrag.effects.runner import Limits, Port, PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.errors import MissingExtraError
from sdrag.evaluation.index import SentenceIndex, sentence_chunks
from sdrag.evaluation.measures import broken, completeness, share_kept
from sdrag.pipeline import Engine, Request, attach, bind, disclose
from sdrag.vocabulary import Passage
from sdrag.wrapper_setup import local_embeddings

Article = Mapping[str, Any]
TABLE_1 = {
    ("prompt", "none"): (0.502, 0.689),
    ("prompt", "repeat"): (0.199, 0.583),
    ("rephrase", "none"): (0.729, 0.622),
    ("rephrase", "repeat"): (0.585, 0.584),
    ("redact", "none"): (0.827, 0.598),
    ("redact", "repeat"): (0.779, 0.582),
}
"""Privacy and completeness of Table I, by defense and injection."""
TABLE_2 = {
    "[0, 1, 2]": ((0, 1, 2), 0.749, 0.623),
    "[0]": ((0,), 0.739, 0.637),
    "[1, 2]": ((1, 2), 0.813, 0.535),
}
"""The layers of Table II, and their privacy and completeness."""
TABLE_1_SAYS = """\
{0}, generator `{1}`. Before a generator that repeats all it is given, \
constraints in the prompt are no defense."""
RANKING_SAYS = """\
{questions} questions, {constraints} constraints, {chunks} chunks. The paper plots its \
five strategies (639 chunks, 120 constraints, N = 50) without numbers: averages do \
best, the weighted one slightly ahead, the maximum worst."""
LATENCY_SAYS = """\
10 documents under 12 constraints; every call of the model takes L = {0:g} s. Seconds \
are wall time beside the retrieval; CPU seconds are what the redaction itself took, on \
however busy a machine. The paper's figure 9 plots two models on a T4 without numbers: \
extraction takes longer than rephrasing, and both longer than the prompt alone."""
TABLE_2_SAYS = """\
{0}, local engine. A scripted model summarizes by every second chunk, so that \
summaries generalize nothing, and only the second of the paper's two effects is there: \
chunks are brought together."""


@dataclass(frozen=True)
class Run:
    """
    What one run of the benchmark was asked for.

    Args:
        articles: As in the paper's listing.
        few: The articles of the experiments that take long.
        fewest: Those of the experiments that take longest.
        latency: Of the model of figure 9, in seconds.
        options: As typed.
    """

    articles: Sequence[Article]
    few: Sequence[Article]
    fewest: Sequence[Article]
    latency: float
    options: argparse.Namespace


def main() -> None:
    """Run the experiments and write them as one Markdown file."""
    parser = argparse.ArgumentParser(description="Rerun the experiments of SD-RAG.")
    parser.add_argument("--data", type=Path, help="Articles; the package's if none.")
    parser.add_argument("--only", default=",".join(PARTS), help="Some of the parts.")
    parser.add_argument("--quick", action="store_true", help="Few articles.")
    parser.add_argument("--out", type=Path, help="The file; printed if none.")
    parser.add_argument("--engine", default="local")
    parser.add_argument("--generator", default="verbatim")
    parser.add_argument("--judge", default=None)
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := set(names) - set(PARTS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}")
    articles = load_articles(options.data)
    few = articles[: 2 if options.quick else 4]
    asked = Run(
        articles=few if options.quick else articles,
        few=few,
        fewest=few[:1] if options.quick else few,
        latency=0.2 if options.quick else 1.0,
        options=options,
    )
    report = "\n\n".join(["# The experiments of SD-RAG, rerun", *_parts(names, asked)])
    if options.out:
        options.out.write_text(report + "\n", encoding="utf-8")
    else:
        print(report)


def _parts(names: Sequence[str], asked: Run) -> Iterator[str]:
    for name in names:
        started = time.perf_counter()
        yield PARTS[name](asked)
        yield f"({time.perf_counter() - started:.0f} s)"


def table1(asked: Run) -> str:
    """Measure every defense with and without the injection."""
    options = asked.options
    engines = {options.engine: complete_with(options.engine)}
    if options.engine == "local":
        engines["right spans"] = right_spans(asked.articles)
    judges = {**generator_of(options.generator), **judge_of(options.judge)}
    rows = []
    for engine, complete in engines.items():
        for (defense, attack), paper in TABLE_1.items():
            settings = RcqaSettings(
                defense=defense,  # type: ignore[arg-type]
                attack=attack,
                complete=complete,
                **judges,
            )
            got = evaluate_rcqa(asked.articles, settings)
            names = ("privacy", "privacy_all", "privacy_cumulative", "completeness")
            figures = [got[name] for name in (*names, "over_redacted")]
            rows.append((engine, defense, attack, *figures, *paper))
    heads = ("privacy", "all", "cumulative", "completeness", "over-redacted")
    paper_heads = ("paper: privacy", "paper: completeness")
    return "\n\n".join(
        [
            "## Table I: privacy and completeness",
            TABLE_1_SAYS.format(_count(asked.articles), options.generator),
            _table(("engine", "defense", "injection", *heads, *paper_heads), rows),
        ]
    )


def ranking(asked: Run) -> str:
    """Compare the five strategies of the paper and the default one."""
    got = evaluate_ranking(asked.articles)
    rows = [
        (
            name,
            row["candidate_recall"],
            row["candidates"],
            *(row["recall"][k] for k in ("5", "10", "20")),
            *(row["average_precision"][k] for k in ("5", "10", "20")),
        )
        for name, row in got["strategies"].items()
    ]
    heads = ("candidate recall", "candidates", "R@5", "R@10", "R@20", "AP@5", "AP@10")

    def curves(measure: str) -> dict[str, list[float]]:
        strategies = got["strategies"].items()
        return {name: list(row[measure].values()) for name, row in strategies}

    return "\n\n".join(
        [
            "## Figures 4 to 8: ranking constraints",
            RANKING_SAYS.format(**got),
            _table(("strategy", *heads, "AP@20"), rows),
            _plot(asked, "Recall at K", curves("recall")),
            _plot(asked, "Average precision at K", curves("average_precision")),
        ]
    )


def latency(asked: Run) -> str:
    """Redact 10 documents under 12 constraints: side by side, and one by one."""
    passages, rules = ten_documents(asked.articles, load_articles(asked.options.data))
    rows = []
    for method in ("redact", "rephrase"):
        policy = {"constraints": [{"text": rule, "method": method} for rule in rules]}
        redaction_time(passages, policy, 32, 0.0)  # models load before the clock starts
        for concurrency in (32, 1):
            wall, busy, calls = redaction_time(
                passages, policy, concurrency, asked.latency
            )
            share = f"{wall / asked.latency:.2f}"
            rows.append(
                (method, concurrency, calls, f"{wall:.2f}", share, f"{busy:.2f}")
            )
    heads = ("method", "calls at once", "calls", "seconds", "in L", "CPU seconds")
    return "\n\n".join(
        [
            "## Figure 9: time",
            LATENCY_SAYS.format(asked.latency),
            _table(heads, rows),
        ]
    )


def table2(asked: Run) -> str:
    """Hold retrieval to layers of a tree of summaries."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in TABLE_2}
    try:
        for number, article in enumerate(asked.fewest):
            for name, figures in _layered(article, number):
                found[name].append(figures)
    except MissingExtraError as missing:
        return f"## Table II: layers of summaries\n\nLeft out. {missing}"
    rows = [
        (
            name,
            *(f"{fmean(column):.3f}" for column in zip(*found[name], strict=True)),
            privacy,
            complete,
        )
        for name, (_, privacy, complete) in TABLE_2.items()
    ]
    paper_heads = ("paper: privacy", "paper: completeness")
    heads = ("layers", "privacy", "completeness", *paper_heads)
    return "\n\n".join(
        [
            "## Table II: layers of summaries",
            TABLE_2_SAYS.format(_count(asked.fewest)),
            _table(heads, rows),
        ]
    )


def attacks(asked: Run) -> str:
    """Try what the paper does not: eviction, subtraction, the retrieval oracle."""
    evicted = evaluate_eviction(asked.few)["strategies"]
    subtracted = evaluate_differential(asked.fewest)["regimes"]
    engines = ("exact",) if asked.options.quick else ENGINES
    oracle = evaluate_retrieval_oracle(asked.few, engines=engines)
    return "\n\n".join(
        [
            "## Attacks the paper does not try",
            f"### Eviction ({_count(asked.few)})",
            _nested(("strategy", "K"), evicted),
            f"### Subtraction ({_count(asked.fewest)})",
            _nested(("regime", "questions"), subtracted),
            f"### Retrieval oracle ({_count(asked.few)})",
            _nested(("vectors", "values"), oracle["advantage"]),
            _table(
                ("engine", "completeness, unredacted", "completeness, view"),
                [
                    (name, row["unredacted"], row["view"])
                    for name, row in oracle["completeness"].items()
                ],
            ),
        ]
    )


PARTS: Mapping[str, Callable[[Run], str]] = {
    "table1": table1,
    "ranking": ranking,
    "latency": latency,
    "table2": table2,
    "attacks": attacks,
}


def ten_documents(
    articles: Sequence[Article], sources: Sequence[Article]
) -> tuple[list[Passage], list[str]]:
    """Return ten passages of articles, and twelve constraints of two sources."""
    passages = [
        Passage(f"p{n}", str(a["article_text"])[:600], {}, None, f"d{n}")
        for n, a in enumerate((list(articles) * 10)[:10])
    ]
    rules = [r for a in sources[:2] for r in a["constraint_to_witness_words"]]
    return passages, rules[:12]


def redaction_time(
    passages: Sequence[Passage],
    policy: Mapping[str, Any],
    concurrency: int,
    seconds: float,
) -> tuple[float, float, int]:
    """Redact once; return wall time, CPU time and calls."""
    model = Port(nothing_found(seconds))
    ports = Ports(complete=model, embed=local_embeddings())
    runner = PortRunner(ports, Limits(concurrency=concurrency))
    engine = Engine.build(policy, has_model=True)
    run(attach(passages, engine), runner)
    started, busy = time.perf_counter(), time.process_time()
    run(disclose(passages, Request("What happened?"), engine), runner)
    wall, cpu = time.perf_counter() - started, time.process_time() - busy
    return wall, cpu, runner.meter.calls


def _layered(
    article: Article, number: int
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield mean privacy and completeness of an article's questions, by layers."""
    leaves = sentence_chunks(article, f"article-{number}")
    ports = Ports(complete=Port(every_second), embed=local_embeddings())
    runner = PortRunner(ports)
    engine = Engine.build(policy_of([article], "rephrase"))
    state = engine.disclosure.state
    run(bind(leaves, engine), runner)
    summaries = run(add_summaries(leaves, engine.policy, state), runner).passages
    for name, (layers, *_) in TABLE_2.items():
        index = SentenceIndex(in_layers([*leaves, *summaries], layers))
        rows = [
            _answered(article, question, index, engine, runner)
            for question in article["questions"]
            if question["relevant_constraints"]
        ]
        privacy, complete = zip(*rows, strict=True)
        yield name, (fmean(privacy), fmean(complete))


def _answered(
    article: Article,
    question: Mapping[str, Any],
    index: SentenceIndex,
    engine: Engine,
    runner: PortRunner,
) -> tuple[float, float]:
    asked = str(question["question_text"])
    found = index.search(asked, 10)
    done = run(disclose(found, Request(asked), engine), runner)
    text = "\n".join(passage.text for passage in done.passages)
    relevant = question["relevant_constraints"]
    leaked = broken(text, article["constraint_to_witness_words"], relevant)
    (complete,) = completeness([(str(question["answer_text"]), text)])
    return share_kept(relevant, leaked), complete


def _count(articles: Sequence[Article]) -> str:
    return f"{len(articles)} article{'s' * (len(articles) != 1)}"


def _plot(asked: Run, title: str, curves: Mapping[str, Sequence[float]]) -> str:
    """Draw curves: into a file next to the report, or into what is printed."""
    drawn, report = draw_curves(title, curves), asked.options.out
    if report is None:
        return drawn
    name = f"{report.stem}-{title.lower().replace(' ', '-')}.svg"
    report.with_name(name).write_text(drawn, encoding="utf-8")
    return f"![{title}]({name})"


def _nested(heads: Sequence[str], figures: Mapping[str, Any]) -> str:
    """Make a table of figures by two keys."""
    rows = [
        (name, key, *row.values())
        for name, by_key in figures.items()
        for key, row in by_key.items()
    ]
    first = next(iter(next(iter(figures.values())).values()))
    return _table((*heads, *(name.replace("_", " ") for name in first)), rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


if __name__ == "__main__":
    main()
