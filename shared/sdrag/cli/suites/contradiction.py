"""`sdrag eval contradiction`: how well refuting evidence is recognised."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.options import AsJson
from sdrag.cli.output import show

__all__ = ["command"]


def command(
    data: Annotated[
        Path, typer.Option(help="JSON lines of claim, evidence, gold_label.")
    ],
    threshold: Annotated[float, typer.Option(help="The least certainty.")] = 0.5,
    *,
    as_json: AsJson = False,
) -> None:
    """Measure the local rules: accuracy."""
    from sdrag.evaluation.contradiction import measure, read_pairs

    show(measure(read_pairs(data), threshold), as_json=as_json)
