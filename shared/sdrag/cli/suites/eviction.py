"""`sdrag eval eviction`: can a question be worded so that a constraint is dropped?"""

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
    top_k: Annotated[int, typer.Option(min=1, help="Chunks retrieved.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Search for wordings that push needed constraints below K."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.eviction import evaluate_eviction

    articles = load_articles(data)[:limit]
    show(evaluate_eviction(articles, chunks=top_k), as_json=as_json)
