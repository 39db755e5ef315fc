"""`sdrag eval differential`: does one answer give away what another withholds?"""

from __future__ import annotations

from sdrag.cli.options import Articles, AsJson, Limit, TopK
from sdrag.cli.output import show


def command(
    data: Articles = None,
    limit: Limit = None,
    top_k: TopK = 4,
    as_json: AsJson = False,
) -> None:
    """Replay question sets, and subtract one answer from another."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.differential import evaluate_differential

    articles = load_articles(data)[:limit]
    show(evaluate_differential(articles, top_k=top_k), as_json=as_json)
