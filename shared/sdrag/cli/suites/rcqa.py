"""`sdrag eval rcqa`: privacy and completeness on articles with witness words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sdrag.cli.models import complete_with, generator_of, judge_of
from sdrag.cli.options import Articles, AsJson, Errors, TopK
from sdrag.cli.output import show, show_errors
from sdrag.errors import UsageError

if TYPE_CHECKING:
    from sdrag.evaluation.rcqa import Answer

_DEFENSES = ("none", "prompt", "redact", "rephrase", "withhold")


def command(
    data: Articles = None,
    defense: Annotated[
        str, typer.Option(help=f"One or several of: {', '.join(_DEFENSES)}.")
    ] = "redact",
    attack: Annotated[str, typer.Option(help="none or repeat.")] = "none",
    scope: Annotated[str, typer.Option(help="article or corpus.")] = "article",
    top_k: TopK = 10,
    engine: Annotated[
        str, typer.Option(help="local, or langchain:PROVIDER:MODEL.")
    ] = "local",
    caution: Annotated[
        str, typer.Option(help="Of the local engine: high or balanced.")
    ] = "high",
    locate: Annotated[
        str, typer.Option(help="When to locate: ingest (whole articles) or query.")
    ] = "ingest",
    generator: Annotated[
        str, typer.Option(help="verbatim, or PROVIDER:MODEL.")
    ] = "verbatim",
    judge: Annotated[
        str | None, typer.Option(help="PROVIDER:MODEL that lists facts.")
    ] = None,
    errors: Errors = 0,
    as_json: AsJson = False,
) -> None:
    """Ask every question of every article; measure what the answers give away."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.rcqa import ATTACKS, RcqaSettings, evaluate_rcqa

    chosen = _one_of("--defense", defense.split(","), _DEFENSES)
    _one_of("--attack", [attack], tuple(ATTACKS))
    _one_of("--scope", [scope], ("article", "corpus"))
    _one_of("--caution", [caution], ("high", "balanced"))
    _one_of("--locate", [locate], ("ingest", "query"))
    articles = load_articles(data)
    results: dict[str, Any] = {}
    for name in chosen:
        settings = RcqaSettings(
            defense=cast("Any", name),
            attack=attack,
            scope=cast("Any", scope),
            top_k=top_k,
            caution=cast("Any", caution),
            locate=cast("Any", locate),
            complete=complete_with(engine),
            **generator_of(generator),
            **judge_of(judge),
        )
        figures = evaluate_rcqa(articles, settings, partial(_list, articles, errors))
        results[name] = {"defense": name, **figures}
    single = results[chosen[0]] if len(chosen) == 1 else {"defenses": results}
    show(single, as_json=as_json)


def _list(
    articles: Sequence[Mapping[str, Any]], limit: int, answers: Sequence[Answer]
) -> None:
    from sdrag.evaluation.rcqa_errors import given_away

    if limit:
        show_errors(given_away(articles, answers), limit)


def _one_of(option: str, given: list[str], known: tuple[str, ...]) -> list[str]:
    for value in given:
        if value not in known:
            raise UsageError(f"{option} takes {', '.join(known)}.")
    return given
