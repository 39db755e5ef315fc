"""`sdrag eval differential`: does one answer give away what another withholds?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.output import show


def command(
    data: Annotated[
        Path | None, typer.Option(help="Articles; the shipped ones when missing.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="How many articles; all when missing.")
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, help="Chunks retrieved.")] = 4,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Replay question sets, and subtract one answer from another."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.differential import evaluate_differential

    articles = load_articles(data)[:limit]
    show(evaluate_differential(articles, top_k=top_k), as_json=as_json)
