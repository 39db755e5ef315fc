"""
Rerun the experiments of SD-RAG as far as an engine allows, beside the paper's figures.

    python benchmarks/sd_rag.py latency
    python benchmarks/sd_rag.py ranking
    python benchmarks/sd_rag.py eviction
    python benchmarks/sd_rag.py table1 --engine langchain:PROVIDER:MODEL \
        --generator PROVIDER:MODEL --judge PROVIDER:MODEL

`latency` redacts 10 documents under 12 constraints with a model of fixed latency, side
by side and one after another (figure 9). `ranking` gives figures 4 to 8 and the default
strategy. `eviction` asks every question with every constraint's opposite in mind: how
many needed constraints fall below K because of the wording alone. `table1` gives
privacy and completeness of each defense with and without injection; without an engine
the local one redacts and the generator repeats all it is given.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sdrag.calls import Limits, Port
from sdrag.cli.models import complete_with, generator_of, judge_of
from sdrag.evaluation.articles_check import load_articles
from sdrag.evaluation.eviction import evicted
from sdrag.evaluation.ranking import evaluate_ranking
from sdrag.evaluation.rcqa import RcqaSettings, evaluate_rcqa
from sdrag.minilm import embed_texts
from sdrag.performing import PortPerformer, Ports
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.prompts import Prompt
from sdrag.steps import run
from sdrag.vocabulary import Passage

LATENCY = 1.0
PAPER = {
    ("prompt", "none"): (0.502, 0.689),
    ("prompt", "repeat"): (0.199, 0.583),
    ("rephrase", "none"): (0.729, 0.622),
    ("rephrase", "repeat"): (0.585, 0.584),
    ("redact", "none"): (0.827, 0.598),
    ("redact", "repeat"): (0.779, 0.582),
}
"""Privacy and completeness of Table I, by defense and injection."""


def main() -> None:
    """Run one of the experiments and print it as Markdown."""
    parser = argparse.ArgumentParser(description="Rerun the experiments of SD-RAG.")
    parser.add_argument(
        "what",
        nargs="?",
        default="latency",
        choices=["latency", "ranking", "eviction", "table1"],
    )
    parser.add_argument(
        "--data", type=Path, help="Articles; the package's own if none."
    )
    parser.add_argument("--engine", default="local")
    parser.add_argument("--generator", default="verbatim")
    parser.add_argument("--judge", default=None)
    parser.add_argument("--limit", type=int, default=20, help="How many articles.")
    options = parser.parse_args()
    articles = load_articles(options.data)[: options.limit]
    if options.what == "latency":
        print(latency(articles))
    elif options.what == "ranking":
        print(ranking(articles))
    elif options.what == "eviction":
        print(eviction(articles))
    else:
        print(table1(articles, options))


def latency(articles: Sequence[dict[str, Any]]) -> str:
    """Redact 10 documents under 12 constraints: side by side, and one by one."""
    rules = [r for a in articles[:2] for r in a["constraint_to_witness_words"]][:12]
    passages = [
        Passage(f"p{n}", str(a["article_text"])[:600], {}, None, f"d{n}")
        for n, a in enumerate(articles[:10])
    ]
    embed_texts(["Load the model before the clock starts."])
    rows = []
    for name, concurrency in (("side by side", 32), ("one after another", 1)):
        engine = Engine.build({"constraints": rules}, has_model=True)
        performer = PortPerformer(
            Ports(
                complete=Port(_slowly),
                embed=Port(lambda effect: embed_texts(effect.items).tolist()),
            ),
            Limits(concurrency=concurrency),
        )
        run(bind(passages, engine), performer)
        started = time.perf_counter()
        run(disclose(passages, Request("What happened?"), engine), performer)
        rows.append((name, concurrency, f"{time.perf_counter() - started:.2f}"))
    return _table(("redacting", "calls at once", f"seconds, L = {LATENCY:g} s"), rows)


def ranking(articles: Sequence[dict[str, Any]]) -> str:
    """Compare the five strategies of the paper and the default one."""
    found = evaluate_ranking(articles)["strategies"]
    return _table(
        ("strategy", "candidate recall", "R@5", "R@10", "R@20", "AP@10"),
        [
            (
                name,
                row["candidate_recall"],
                *(row["recall"][k] for k in ("5", "10", "20")),
                row["average_precision"]["10"],
            )
            for name, row in found.items()
        ],
    )


def eviction(articles: Sequence[dict[str, Any]]) -> str:
    """Search for wordings that push a needed constraint below K."""
    return _table(
        ("strategy", "K", "evicted by wording"),
        [(one.strategy, one.top_k, f"{one.share:.3f}") for one in evicted(articles)],
    )


def table1(articles: Sequence[dict[str, Any]], options: argparse.Namespace) -> str:
    """Measure every defense with and without the injection."""
    rows = []
    for (defense, attack), (privacy, complete) in PAPER.items():
        settings = RcqaSettings(
            defense=defense,  # type: ignore[arg-type]
            attack=attack,
            complete=complete_with(options.engine),
            **generator_of(options.generator),
            **judge_of(options.judge),
        )
        got = evaluate_rcqa(articles, settings)
        names = ("privacy", "privacy_all", "privacy_cumulative", "completeness")
        rows.append((defense, attack, *(got[n] for n in names), privacy, complete))
    heads = ("privacy", "all", "cumulative", "completeness")
    return _table(
        ("defense", "injection", *heads, "paper: privacy", "completeness"), rows
    )


def _slowly(prompt: Prompt) -> str:
    """Find nothing, after a while."""
    time.sleep(LATENCY)
    asked = prompt.messages[-1].content.text.split("Text,", 1)[0]
    ids = [line[1 : line.index("]")] for line in asked.splitlines() if line[:1] == "["]
    return json.dumps({"verdicts": [{"constraint": i, "spans": []} for i in ids]})


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


if __name__ == "__main__":
    main()
