"""`sdrag eval injection`: how well orders in retrieved text are found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.options import AsJson
from sdrag.cli.output import show

__all__ = ["command"]


def command(
    data: Annotated[
        Path,
        typer.Option(
            help="JSON lines of text and label; or the folder of development data,"
            " which is scored by folds."
        ),
    ],
    threshold: Annotated[
        float, typer.Option(help="The least score that counts.")
    ] = 0.5,
    *,
    patterns_only: Annotated[
        bool, typer.Option("--patterns-only", help="Leave the trained head out.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the injection scan: precision, recall, false positives, AUC."""
    from sdrag.evaluation.injection import cross_validate, measure, read_examples
    from sdrag.policy import InjectionSection

    section = InjectionSection(threshold=threshold, local_classifier=not patterns_only)
    if data.is_dir():
        result = cross_validate(data, section)
    else:
        result = measure(read_examples(data), section)
    show(result, as_json=as_json)
