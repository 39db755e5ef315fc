"""`sdrag eval eviction`: can a question be worded so that a constraint is dropped?"""

from __future__ import annotations

from sdrag.cli.options import Articles, AsJson, Limit, TopK
from sdrag.cli.output import show


def command(
    data: Articles = None,
    limit: Limit = None,
    top_k: TopK = 8,
    as_json: AsJson = False,
) -> None:
    """Search for wordings that push needed constraints below K."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.eviction import evaluate_eviction

    articles = load_articles(data)[:limit]
    show(evaluate_eviction(articles, chunks=top_k), as_json=as_json)
