"""The suite `rcqa`: privacy and completeness on articles with witness words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from benchmarks.suites.printing import (
    Articles,
    AsJson,
    Errors,
    Limit,
    TopK,
    show,
    show_columns,
    show_errors,
)
from sdrag.errors import UsageError
from sdrag.studio.cli.common import llm_of

if TYPE_CHECKING:
    from benchmarks.suites.planting import Planting
    from benchmarks.suites.rcqa import RcqaAnswer, RcqaSettings

__all__ = ["rcqa"]

_DEFENSES = ("none", "redact", "rephrase", "withhold")
_SENSITIVITIES = ("low", "balanced", "high")
_SCRIPTED = "scripted:"
_HIJACKED = "scripted:hijacked"
_LLMS = (
    "scripted:exact",
    "scripted:stumbling",
    _HIJACKED,
    "langchain:PROVIDER:MODEL",
)
Defenses = Annotated[
    str, typer.Option(help=f"One or several of: {', '.join(_DEFENSES)}.")
]
Sensitivity = Annotated[
    str,
    typer.Option(
        help="Of the local engine: low, balanced or high. Several, such as"
        " low,balanced,high, give a curve."
    ),
]
Locate = Annotated[
    Literal["ingest", "query"],
    typer.Option(help="When to locate: ingest (whole articles) or query."),
]
Llm = Annotated[
    str | None,
    typer.Option(
        help=f"A model that redacts: {', '.join(_LLMS)}. Its figures are shown next"
        " to those of the local engine and of a model that is always right."
    ),
]
Plant = Annotated[
    Literal["none", "other", "same"] | None,
    typer.Option(
        help="Orders to the model: none; other, once an article in a passage of"
        " their own; same, in every passage with a witness word. By default other"
        " for scripted:hijacked, else none."
    ),
]
Attacks = Annotated[
    Path | None,
    typer.Option(
        envvar="SDRAG_DATA",
        help="The folder of development data, to plant BIPIA's training attacks;"
        " orders of our own when missing.",
    ),
]


def rcqa(
    data: Articles = None,
    defense: Defenses = "redact",
    attack: Literal["none", "repeat"] = "none",
    scope: Literal["article", "corpus"] = "article",
    top_k: TopK = 10,
    sensitivity: Sensitivity = "high",
    locate: Locate = "ingest",
    llm: Llm = None,
    plant: Plant = None,
    attacks: Attacks = None,
    limit: Limit = None,
    errors: Errors = 0,
    as_json: AsJson = False,
) -> None:
    """
    Ask every question of every article; measure what the answers give away.

    Examples: python -m benchmarks.suites rcqa --llm scripted:exact --limit 2;
    python -m benchmarks.suites rcqa --llm langchain:openai:gpt-4o-mini --plant same
    """
    from benchmarks.suites.json_files import load_articles
    from benchmarks.suites.rcqa import RcqaSettings, evaluate_rcqa
    from benchmarks.suites.rcqa_models import evaluate_rcqa_with_model

    defenses = _one_of("--defense", defense.split(","), _DEFENSES)
    articles = load_articles(data)[:limit]
    planting = _planting(llm, plant, attacks)
    sensitivities = _one_of("--sensitivity", sensitivity.split(","), _SENSITIVITIES)
    if len(sensitivities) > 1 and (len(defenses) > 1 or llm):
        raise UsageError("A curve is of one defense, without --llm.")
    settings = RcqaSettings(
        attack=attack,
        scope=scope,
        top_k=top_k,
        sensitivity=sensitivities[-1],
        locate=locate,
        planting=planting,
        **_model(llm, defenses, articles, planting),
    )
    evaluate = evaluate_rcqa_with_model if llm else evaluate_rcqa
    look = partial(_show_given_away, articles, errors)
    model = {"llm": llm, "plant": planting.plant} if llm else {}
    results = {
        name: {
            "defense": name,
            **model,
            **evaluate(articles, replace(settings, defense=cast("Any", name)), look),
        }
        for name in defenses
    }
    single = len(results) == 1
    measured: dict[str, Any] = results[defenses[0]] if single else {"defenses": results}
    if len(sensitivities) > 1:
        measured["curve"] = [
            *(
                _point(name, evaluate(articles, _at(settings, defenses[0], name)))
                for name in sensitivities[:-1]
            ),
            _point(sensitivities[-1], measured),
        ]
    if llm and not as_json:
        for result in results.values():
            _show_compared(result)
        return
    show(measured, as_json=as_json)


def _at(settings: RcqaSettings, defense: str, sensitivity: str) -> RcqaSettings:
    """Return the settings of one point of a curve."""
    return replace(settings, defense=cast("Any", defense), sensitivity=sensitivity)


def _point(sensitivity: str, measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return one point of a curve: what is safe, and what is left to read."""
    return {
        "sensitivity": sensitivity,
        "privacy": measured["privacy"],
        "privacy_cumulative": measured["privacy_cumulative"],
        "readable": 1.0 - measured["over_redacted"],
        "completeness": measured["completeness"],
    }


def _show_compared(result: Mapping[str, Any]) -> None:
    """Print the figures of the model, the local engine and the exact model."""
    from benchmarks.suites.rcqa import FIGURES

    others = result["compared"]
    rest = {key: value for key, value in result.items() if key != "compared"}
    show_columns(
        rest, {"model": {figure: rest[figure] for figure in FIGURES}, **others}
    )


def _planting(
    llm: str | None,
    plant: Literal["none", "other", "same"] | None,
    attacks: Path | None,
) -> Planting:
    """Say what is planted; attacks are read only where something is."""
    from benchmarks.suites.planting import Planting, read_orders

    where = plant or ("other" if llm == _HIJACKED else "none")
    if where == "none":
        return Planting()
    if not llm:
        raise UsageError("--plant is for a model.", hint="Name it with --llm.")
    return Planting(where, read_orders(attacks))


def _model(
    llm: str | None,
    defenses: Sequence[str],
    articles: Sequence[Mapping[str, Any]],
    planting: Planting,
) -> dict[str, Any]:
    """Return the settings of the model that redacts."""
    if llm is None:
        return {}
    if "none" in defenses:
        raise UsageError("The defense none asks no model; leave --llm out.")
    if llm.startswith(_SCRIPTED):
        from benchmarks.suites.rcqa_models import scripted_model

        _one_of("--llm", [llm], _LLMS)
        name = llm.removeprefix(_SCRIPTED)
        complete = scripted_model(name, articles, planting)
        return {"complete": complete, "model_id": llm}
    if not llm.startswith("langchain:"):
        raise UsageError(f"--llm takes {', '.join(_LLMS)}.")
    model = llm_of(llm)
    if model is None:
        return {}
    return {"complete": model.complete, "model_id": model.name, "window": model.window}


def _show_given_away(
    articles: Sequence[Mapping[str, Any]], limit: int, answers: Sequence[RcqaAnswer]
) -> None:
    from benchmarks.suites.rcqa import given_away

    if limit:
        show_errors(given_away(articles, answers), limit)


def _one_of(option: str, given: list[str], known: tuple[str, ...]) -> list[str]:
    for value in given:
        if value not in known:
            raise UsageError(f"{option} takes {', '.join(known)}.")
    return given
