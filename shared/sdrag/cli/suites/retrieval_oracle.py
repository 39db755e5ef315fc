"""`sdrag eval retrieval-oracle`: does asking for a value tell that the index has it?"""

from __future__ import annotations

from sdrag.cli.options import Articles, AsJson, Limit
from sdrag.cli.output import show


def command(
    data: Articles = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Compare true values with decoys, by ids and scores; and what a view costs."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.retrieval_oracle import evaluate_retrieval_oracle

    show(evaluate_retrieval_oracle(load_articles(data)[:limit]), as_json=as_json)
