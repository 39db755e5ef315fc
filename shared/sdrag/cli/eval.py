"""`sdrag eval`: privacy and completeness of a policy on your own articles."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sdrag.cli.common import LOCAL, AsJson, complete_with, llm_of, progress_bar
from sdrag.policy import Policy

__all__ = ["evaluate"]

_FIGURES = ("privacy", "privacy_cumulative", "completeness", "over_redacted")
_BOUND = re.compile(rf"({'|'.join(_FIGURES)})=(\d*\.?\d+)")

Bounds = list[tuple[str, float]]


def _bound(given: str) -> tuple[str, float]:
    match = _BOUND.fullmatch(given)
    if match is None:
        raise typer.BadParameter(
            f"Write a figure ({', '.join(_FIGURES)}) and a number: privacy=0.9."
        )
    return match[1], float(match[2])


def evaluate(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
    articles: Annotated[
        Path, typer.Argument(help="JSON, JSON lines, or a folder of both.")
    ],
    llm: Annotated[
        str, typer.Option(help="local, or langchain:PROVIDER:MODEL.")
    ] = LOCAL,
    top_k: Annotated[int, typer.Option(min=1, help="Chunks retrieved.")] = 10,
    fail_under: Annotated[
        list[Any] | None,
        typer.Option(
            metavar="FIGURE=NUMBER",
            parser=_bound,
            help="End with 1 if a figure is less; repeatable.",
        ),
    ] = None,
    fail_over: Annotated[
        list[Any] | None,
        typer.Option(
            metavar="FIGURE=NUMBER",
            parser=_bound,
            help="End with 1 if a figure is more; repeatable.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """
    Ask questions of articles whose secrets are known; measure what is released.

    Privacy and completeness are equations 9 and 10 of the SD-RAG paper, from 0 to 1.

    Example: sdrag eval policy.yaml articles.json --fail-under privacy=0.9
    """
    from sdrag.evaluation.articles import read_articles
    from sdrag.evaluation.disclosed import evaluate as measure

    complete_with(llm, "--llm")
    read = Policy.read(policy)
    given = read_articles(articles)
    model = {} if llm == LOCAL else llm_of(llm)
    with progress_bar("Asking", len(given)) as update:
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            update(done, len(given))

        figures = measure(read, given, top_k=top_k, advance=advance, **model)
    _show(figures, as_json=as_json)
    failed = [
        f"{name} is {figures[name]:.4f}, under {least:g}"
        for name, least in fail_under or ()
        if figures[name] < least
    ] + [
        f"{name} is {figures[name]:.4f}, over {most:g}"
        for name, most in fail_over or ()
        if figures[name] > most
    ]
    for line in failed:
        typer.echo(f"sdrag: {line}", err=True)
    if failed:
        raise typer.Exit(1)


def _show(figures: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(figures))
        return
    for name in _FIGURES:
        typer.echo(f"{name}: {figures[name]:.4f}")
    typer.echo(f"questions: {figures['questions']}")
    for constraint, count in figures["leaks"].items():
        typer.echo(f"  broken in {count}: {constraint}")
