"""`sdrag eval control`: what a hijacked highlighter can do, and a corpus scan."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.options import AsJson
from sdrag.cli.output import show


def command(
    data: Annotated[Path, typer.Option(help="A JSON list of attack strings.")],
    corpus: Annotated[
        Path, typer.Option(help="Passages: JSON, JSONL, SQuAD, or a folder of .txt.")
    ],
    min_words: Annotated[int, typer.Option(min=1, help="Of a highlight.")] = 5,
    max_highlights: Annotated[int, typer.Option(min=1, help="Of one answer.")] = 20,
    cut_at: Annotated[str, typer.Option(help="words, scope or sentences.")] = "scope",
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
    from sdrag.evaluation.control_bits import (
        evaluate_control,
        read_attacks,
        read_corpus,
    )
    from sdrag.policy import Policy

    section = {
        "min_words": min_words,
        "max_highlights": max_highlights,
        "cut_at": cut_at,
    }
    rules = Policy.read({"highlight": section}).highlight
    passages = read_corpus(corpus)
    result = evaluate_control(
        read_attacks(data), passages, rules, tokens=tokens, vocabulary=vocabulary
    )
    if scan is not None:
        from sdrag.evaluation.control_scan import guard_judge, scan_to
        from sdrag.policy import InjectionSection

        judge = guard_judge(InjectionSection(local_classifier=classifier))
        with typer.progressbar(passages, label="Scanning", file=sys.stderr) as shown:
            result["scan"] = scan_to(scan, shown, rules, judge)
    show(result, as_json=as_json)
