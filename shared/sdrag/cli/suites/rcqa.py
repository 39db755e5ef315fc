"""`sdrag eval rcqa`: privacy and completeness on articles with witness words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sdrag.cli.models import complete_with, generator_of, judge_of, llm_of
from sdrag.cli.options import Articles, AsJson, Errors, Limit, TopK
from sdrag.cli.output import show, show_beside, show_errors
from sdrag.errors import UsageError

if TYPE_CHECKING:
    from sdrag.evaluation.planting import Planting
    from sdrag.evaluation.rcqa import Answer

_WITHOUT_MODEL = ("none", "prompt")
_DEFENSES = (*_WITHOUT_MODEL, "redact", "rephrase", "withhold")
_SCRIPTED = "scripted:"
_HIJACKED = "scripted:hijacked"
_LLMS = (
    "scripted:exact",
    "scripted:stumbling",
    _HIJACKED,
    "langchain:PROVIDER:MODEL",
)
_PLANTS = ("none", "other", "same")


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
    llm: Annotated[
        str | None,
        typer.Option(
            help=f"A model that redacts: {', '.join(_LLMS)}. Its figures are shown"
            " beside those of the local engine and of a model that is always right."
        ),
    ] = None,
    plant: Annotated[
        str | None,
        typer.Option(
            help="Orders to the model: none; other, once an article in a passage of"
            " their own; same, in every passage with a witness word. By default other"
            " for scripted:hijacked, else none."
        ),
    ] = None,
    attacks: Annotated[
        Path | None,
        typer.Option(
            envvar="SDRAG_DATA",
            help="The folder of development data, to plant BIPIA's training attacks;"
            " orders of our own when missing.",
        ),
    ] = None,
    limit: Limit = None,
    errors: Errors = 0,
    as_json: AsJson = False,
) -> None:
    """
    Ask every question of every article; measure what the answers give away.

    Examples: sdrag eval rcqa --llm scripted:exact --limit 2;
    sdrag eval rcqa --llm langchain:openai:gpt-4o-mini --plant same
    """
    from sdrag.evaluation.articles_check import load_articles
    from sdrag.evaluation.rcqa import ATTACKS, RcqaSettings, evaluate_rcqa
    from sdrag.evaluation.rcqa_llm import evaluate_rcqa_with_model

    chosen = _one_of("--defense", defense.split(","), _DEFENSES)
    _one_of("--attack", [attack], tuple(ATTACKS))
    _one_of("--scope", [scope], ("article", "corpus"))
    _one_of("--caution", [caution], ("high", "balanced"))
    _one_of("--locate", [locate], ("ingest", "query"))
    articles = load_articles(data)[:limit]
    planting = _planting(llm, plant, attacks)
    model = _model(llm, engine, chosen, articles, planting)
    evaluate = evaluate_rcqa_with_model if llm else evaluate_rcqa
    results: dict[str, Any] = {}
    for name in chosen:
        settings = RcqaSettings(
            defense=cast("Any", name),
            attack=attack,
            scope=cast("Any", scope),
            top_k=top_k,
            caution=cast("Any", caution),
            locate=cast("Any", locate),
            planting=planting,
            **model,
            **generator_of(generator),
            **judge_of(judge),
        )
        figures = evaluate(articles, settings, partial(_list, articles, errors))
        told = {"llm": llm, "plant": planting.plant} if llm else {}
        results[name] = {"defense": name, **told, **figures}
    single = results[chosen[0]] if len(chosen) == 1 else {"defenses": results}
    if not llm or as_json:
        show(single, as_json=as_json)
        return
    for figures in results.values():
        _show_beside(figures)


def _planting(llm: str | None, plant: str | None, attacks: Path | None) -> Planting:
    """Say what is planted; attacks are read only where something is."""
    from sdrag.evaluation.planting import Planting, read_orders

    where = plant or ("other" if llm == _HIJACKED else "none")
    _one_of("--plant", [where], _PLANTS)
    if where == "none":
        return Planting()
    if not llm:
        raise UsageError("--plant is for a model.", hint="Name it with --llm.")
    return Planting(cast("Any", where), read_orders(attacks))


def _model(
    llm: str | None,
    engine: str,
    defenses: Sequence[str],
    articles: Sequence[Mapping[str, Any]],
    planting: Planting,
) -> dict[str, Any]:
    """Return the settings of the model that redacts."""
    complete = complete_with(engine)
    if llm is None:
        return {"complete": complete}
    if complete is not None:
        raise UsageError("--llm and --engine name one model each: give one of them.")
    if without := [name for name in defenses if name in _WITHOUT_MODEL]:
        raise UsageError(f"The defense {without[0]} asks no model; leave --llm out.")
    if llm.startswith(_SCRIPTED):
        from sdrag.evaluation.scripted import scripted_model

        _one_of("--llm", [llm], _LLMS)
        name = llm.removeprefix(_SCRIPTED)
        complete = scripted_model(name, articles, planting)
        return {"complete": complete, "model_id": llm}
    if not llm.startswith("langchain:"):
        raise UsageError(f"--llm takes {', '.join(_LLMS)}.")
    return llm_of(llm)


def _show_beside(result: Mapping[str, Any]) -> None:
    """Print the figures of the model, the local engine and the exact model."""
    from sdrag.evaluation.rcqa import FIGURES

    told = dict(result)
    others = told.pop("beside")
    own = {figure: told[figure] for figure in FIGURES}
    show_beside(told, {"model": own, **others})


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
