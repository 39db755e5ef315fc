"""`sdrag eval grounding`: how well supported claims are told from the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.options import AsJson
from sdrag.cli.output import show

__all__ = ["command"]


def command(
    data: Annotated[Path, typer.Option(help="JSON lines of claim, evidence, label.")],
    threshold: Annotated[
        float, typer.Option(help="The least support that counts.")
    ] = 0.5,
    *,
    as_json: AsJson = False,
) -> None:
    """Measure the local scorer: AUC, F1, and the sentences it cites."""
    from sdrag.evaluation.grounding import measure, read_cases

    show(measure(read_cases(data), threshold), as_json=as_json)
