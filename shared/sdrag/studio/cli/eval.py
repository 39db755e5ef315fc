"""`sdrag eval` and `sdrag model-check`: a policy and a model on your own articles."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from sdrag.studio.evaluation.disclosed import Leak

_FIGURES = ("privacy", "privacy_cumulative", "completeness", "over_redacted")
_QUOTED = "The words that leaked are on this terminal, and were written nowhere else."
_NOT_QUOTED = "The words that leaked are shown on a terminal, and not in a file or log."
_STARTER = Path(__file__).parent / "starter" / "articles.json"
_BOUND = re.compile(rf"({'|'.join(_FIGURES)})=(\d*\.?\d+)")


def _bound(given: str) -> tuple[str, float]:
    match = _BOUND.fullmatch(given)
    if match is None:
        raise typer.BadParameter(
            f"Write a figure ({', '.join(_FIGURES)}) and a number: privacy=0.9."
        )
    return match[1], float(match[2])


def _line(leak: Leak, *, quoted: bool) -> str:
    place = f"leaked: {leak.article}, question {leak.number}"
    if not quoted:
        return f"{place}: {len(leak.words)} of {leak.constraint}"
    words = "”, “".join(leak.words)
    return f"{place}, “{leak.question}”: “{words}” ({leak.constraint})"


def _bounds(side: str) -> Any:
    """Return an option of bounds: what is on that side of one ends the command."""
    said = f"End with 1 if a figure is {side}; may be repeated."
    return typer.Option(metavar="FIGURE=NUMBER", parser=_bound, help=said)


def evaluate(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
    articles: Annotated[
        Path, typer.Argument(help="With known secrets: JSON, JSON lines, or a folder.")
    ],
    llm: Llm = LOCAL,
    model_timeout: ModelTimeout = None,
    model_concurrency: ModelConcurrency = None,
    top_k: Annotated[
        int, typer.Option(min=1, help="How many chunks are retrieved for a question.")
    ] = 10,
    fail_under: Annotated[list[Any] | None, _bounds("less")] = None,
    fail_over: Annotated[list[Any] | None, _bounds("more")] = None,
    as_json: AsJson = False,
) -> None:
    """
    Ask questions of articles whose secrets are known, and measure what is released.

    Privacy and completeness are equations 9 and 10 of the SD-RAG paper, from 0 to 1.
    over_redacted is the share of harmless words that are withheld. Words that leaked
    are shown to a terminal alone.

    Example: sdrag eval policy.yaml articles.json --fail-under privacy=0.9
    """
    from sdrag.studio.evaluation.articles import read_articles
    from sdrag.studio.evaluation.disclosed import evaluate as measure

    model = llm_of(llm, timeout=model_timeout, concurrency=model_concurrency)
    read = Policy.read(policy)
    given = read_articles(articles)
    with progress_bars() as update:
        asking = partial(update, "Asking")
        leaks: list[Leak] = []
        figures = measure(
            read, given, llm=model, top_k=top_k, progress=asking, leaks=leaks
        )
    quoted = sys.stdout.isatty() and not as_json
    for leak in leaks:
        typer.echo(_line(leak, quoted=quoted))
    if leaks and not as_json:
        typer.echo(_QUOTED if quoted else _NOT_QUOTED)
    show(figures, as_json=as_json)
    low = [(name, "under", n) for name, n in fail_under or () if figures[name] < n]
    high = [(name, "over", n) for name, n in fail_over or () if figures[name] > n]
    for name, side, bound in (*low, *high):
        typer.echo(f"sdrag: {name} is {figures[name]}, {side} {bound:g}", err=True)
    failed = low or high or figures["model_failures"]
    raise typer.Exit(1 if failed else 0)


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
