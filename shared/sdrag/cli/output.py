"""How results are printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import typer

__all__ = ["show"]


def show(result: Mapping[str, Any], *, as_json: bool) -> None:
    """
    Print a suite's result.

    Args:
        result: Plain data.
        as_json: Print it as one JSON object on the last line, else as a list.
    """
    if as_json:
        typer.echo(json.dumps(result))
        return
    for key, value in result.items():
        typer.echo(f"{key}: {_brief(value)}")


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_brief(inner)}" for key, inner in value.items())
    return str(value)
