"""`sdrag model-check`: whether a model of your own is worth asking."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.studio.cli.common import (
    LOCAL,
    AsJson,
    Llm,
    ModelConcurrency,
    ModelTimeout,
    llm_of,
    progress_bars,
    show,
)

_STARTER = Path(__file__).parent / "starter" / "articles.json"


def model_check(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
    articles: Annotated[
        Path,
        typer.Argument(
            help="With known secrets, as for eval; those of sdrag init by default.",
            show_default=False,
        ),
    ] = _STARTER,
    llm: Llm = LOCAL,
    model_timeout: ModelTimeout = None,
    model_concurrency: ModelConcurrency = 1,
    minutes: Annotated[
        float, typer.Option(min=0, help="No article is begun after them.")
    ] = 5.0,
    as_json: AsJson = False,
) -> None:
    """
    Redact articles with a model and without, and say what the model is of use for.

    Prints how many replies could be used, how fast the model writes, how many calls a
    question takes, what each constraint hides, and a verdict.

    Example: sdrag model-check policy.yaml --llm langchain:openai:llama3.2
    """
    from sdrag.studio.evaluation.articles import read_articles
    from sdrag.studio.evaluation.model_check import check_model

    seconds = 60 * minutes
    timeout = seconds if model_timeout is None else model_timeout
    model = llm_of(llm, timeout=timeout, concurrency=model_concurrency)
    if model is None:
        raise UsageError("There is no model to check.", hint="Name it with --llm.")
    rules, given = Policy.read(policy), read_articles(articles)
    with progress_bars() as update:
        reading = partial(update, "Reading")
        result = check_model(rules, given, model, seconds=seconds, progress=reading)
    show(result, as_json=as_json)
    raise typer.Exit(1 if result["model_failures"] else 0)
