"""`sdrag eval ranking`: do questions find the constraints they need?"""

from __future__ import annotations

from typing import Annotated

import typer

from sdrag.cli.options import Articles, AsJson, TopK
from sdrag.cli.output import show


def command(
    data: Articles = None,
    top_k: TopK = 8,
    bind_top_n: Annotated[
        int, typer.Option(min=1, help="Chunks each constraint is bound to.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """Rank the constraints of every question, all articles being one corpus."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.ranking import evaluate_ranking

    result = evaluate_ranking(load_articles(data), top_k=top_k, bind_top_n=bind_top_n)
    show(result, as_json=as_json)
