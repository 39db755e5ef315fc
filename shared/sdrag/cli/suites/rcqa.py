"""`sdrag eval rcqa`: privacy and completeness on articles with witness words."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from sdrag.cli.models import complete_with, generator_of, judge_of
from sdrag.cli.options import Articles, AsJson, TopK
from sdrag.cli.output import show, show_errors
from sdrag.errors import UsageError

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
    generator: Annotated[
        str, typer.Option(help="verbatim, or PROVIDER:MODEL.")
    ] = "verbatim",
    judge: Annotated[
        str | None, typer.Option(help="PROVIDER:MODEL that lists facts.")
    ] = None,
    errors: Annotated[int, typer.Option(help="Show so many errors of each kind.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Ask every question of every article; measure what the answers give away."""
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.rcqa import (
        ATTACKS,
        RcqaSettings,
        evaluate_rcqa,
    )
    from sdrag.evaluation.rcqa_errors import given_away

    chosen = _one_of("--defense", defense.split(","), _DEFENSES)
    _one_of("--attack", [attack], tuple(ATTACKS))
    _one_of("--scope", [scope], ("article", "corpus"))
    _one_of("--caution", [caution], ("high", "balanced"))
    articles = load_articles(data)
    results: dict[str, Any] = {}
    for name in chosen:
        settings = RcqaSettings(
            defense=cast("Any", name),
            attack=attack,
            scope=cast("Any", scope),
            top_k=top_k,
            caution=cast("Any", caution),
            complete=complete_with(engine),
            **generator_of(generator),
            **judge_of(judge),
        )
        if errors:
            show_errors(given_away(articles, settings), errors)
        results[name] = {"defense": name, **evaluate_rcqa(articles, settings)}
    single = results[chosen[0]] if len(chosen) == 1 else {"defenses": results}
    show(single, as_json=as_json)


def _one_of(option: str, given: list[str], known: tuple[str, ...]) -> list[str]:
    for value in given:
        if value not in known:
            raise UsageError(f"{option} takes {', '.join(known)}.")
    return given
