"""
What every suite of `sdrag eval` does with its figures: a page, and a gate for builds.

A suite is a command that returns its figures. `suite` gives it `--html`, `--fail-under`
and `--fail-over`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from sdrag.cli.writing import check_writable, write_whole

__all__ = ["Figures", "suite"]

Figures = Mapping[str, Any]
"""What a suite measured, as plain data."""

_BOUND = re.compile(r"([\w.@-]+)=(-?\d*\.?\d+)")


class Bound(NamedTuple):
    """
    What a figure has to keep to.

    Args:
        name: Of the figure; one inside another is named with a dot.
        number: The least or the most it may be.
    """

    name: str
    number: float


def suite(measure: Callable[..., Figures]) -> Callable[..., None]:
    """Make a command of what measures; it ends with 1 if a figure is out of bounds."""

    @wraps(measure)
    def command(
        *args: Any,
        html: Path | None,
        fail_under: list[Bound],
        fail_over: list[Bound],
        **given: Any,
    ) -> None:
        if html is not None:
            check_writable(html)
        figures = measure(*args, **given)
        if html is not None:
            from sdrag.reports.evaluation_report import render_evaluation

            write_whole(html, render_evaluation(measure.__name__, figures))
        _check(figures, fail_under, fail_over)

    signature = inspect.signature(measure, eval_str=True)
    parameters = [*signature.parameters.values(), *_OPTIONS]
    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=None
    )
    command.__annotations__ = {item.name: item.annotation for item in parameters}
    del command.__wrapped__
    return command


def _check(figures: Figures, under: list[Bound], over: list[Bound]) -> None:
    failed = [
        f"{name} is {value:.4f}, under {least:g}"
        for name, least in under
        if not (value := _figure(figures, name)) >= least
    ] + [
        f"{name} is {value:.4f}, over {most:g}"
        for name, most in over
        if not (value := _figure(figures, name)) <= most
    ]
    for line in failed:
        typer.echo(f"sdrag: {line}", err=True)
    if failed:
        raise typer.Exit(1)


def _figure(figures: Figures, name: str) -> float:
    value: Any = figures
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        known = ", ".join(_names(figures))
        raise typer.BadParameter(f"{name} is no figure of this suite: {known}.")
    return value


def _names(figures: Figures, before: str = "") -> list[str]:
    """Return the dotted names of all figures."""
    names: list[str] = []
    for key, value in figures.items():
        if isinstance(value, Mapping):
            names += _names(value, f"{before}{key}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            names.append(f"{before}{key}")
    return names


def _bound(given: str) -> Bound:
    found = _BOUND.fullmatch(given)
    if found is None:
        raise typer.BadParameter("Write a figure and a number, such as privacy=0.9.")
    return Bound(found[1], float(found[2]))


def _bounds(name: str, meaning: str) -> Parameter:
    option = typer.Option(
        metavar="FIGURE=NUMBER", parser=_bound, help=f"{meaning}; repeatable."
    )
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        default=[],
        annotation=Annotated[list[Bound], option],
    )


_OPTIONS = (
    Parameter(
        "html",
        Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[Path | None, typer.Option(help="A page to write.")],
    ),
    _bounds("fail_under", "End with 1 if a figure is less"),
    _bounds("fail_over", "End with 1 if a figure is more"),
)
