"""The options that several suites take, and how figures are printed."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "Articles",
    "AsJson",
    "Errors",
    "Limit",
    "TopK",
    "show",
    "show_columns",
    "show_errors",
]

Articles = Annotated[
    Path | None, typer.Option(help="Articles; the packaged ones when missing.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]
Errors = Annotated[int, typer.Option(min=0, help="Show so many errors of each kind.")]
Limit = Annotated[
    int | None, typer.Option(min=1, help="How many articles; all when missing.")
]
TopK = Annotated[int, typer.Option(min=1, help="Chunks retrieved.")]


def show(result: Mapping[str, Any], *, as_json: bool) -> None:
    """
    Print a suite's figures.

    Args:
        result: Plain data.
        as_json: Print it as one JSON object on the last line, else as a list.
    """
    if as_json:
        typer.echo(json.dumps(result))
        return
    for key, value in result.items():
        typer.echo(f"{key}: {_brief(value)}")


def show_columns(
    result: Mapping[str, Any], columns: Mapping[str, Mapping[str, float]]
) -> None:
    """
    Print a result as a list, after a table of the figures that columns share.

    Args:
        result: Plain data.
        columns: What each is called, and its figures, the same ones in each.
    """
    figures = list(next(iter(columns.values())))
    width = max(map(len, figures)) + 2
    wide = {name: max(len(name), 6) + 2 for name in columns}
    heads = "".join(f"{name:>{wide[name]}}" for name in columns)
    typer.echo(f"{'':{width}}{heads}")
    for figure in figures:
        row = (f"{column[figure]:{wide[name]}.4f}" for name, column in columns.items())
        typer.echo(f"{figure:{width}}{''.join(row)}")
    rest = {key: value for key, value in result.items() if key not in figures}
    show(rest, as_json=False)


def show_errors(errors: Iterable[Mapping[str, str]], limit: int) -> None:
    """
    Print some errors of each kind, and how many there are.

    Args:
        errors: Each with `kind`, `before`, `text` and `after`.
        limit: So many of each kind, from all over.
    """
    shown: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    count: Counter[str] = Counter()
    for error in errors:
        count[error["kind"]] += 1
        shown[error["kind"]].append(error)
    for kind, times in count.most_common():
        typer.echo(f"{times} {kind}")
        step = max(1, times // limit)
        for error in shown[kind][::step][:limit]:
            before, after = (" ".join(error[k].split()) for k in ("before", "after"))
            typer.echo(f"    {before} [{error['text']}] {after}")


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_brief(inner)}" for key, inner in value.items())
    return str(value)
