"""`sdrag eval retrieval-oracle`: does asking for a value tell that the index has it?"""

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
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Compare true values with decoys, by ids and scores; and what a view costs."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.retrieval_oracle import evaluate_retrieval_oracle

    show(evaluate_retrieval_oracle(load_articles(data)[:limit]), as_json=as_json)
