"""`sdrag eval entities`: how well what identifies people is found."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.options import AsJson, Errors
from sdrag.cli.output import show, show_errors
from sdrag.detectors import Detector

__all__ = ["command"]


class Part(StrEnum):
    """Which documents: two thirds to tune on, one third, by number, kept aside."""

    all = "all"
    tuning = "tuning"
    aside = "aside"


class Which(StrEnum):
    """The local engine with all that is installed of it, or its rules alone."""

    local = "local"
    rules = "rules"


def command(
    data: Annotated[Path, typer.Option(help="Annotated texts, JSON or JSON lines.")],
    engine: Annotated[Which, typer.Option(help="The detector.")] = Which.local,
    part: Annotated[Part, typer.Option(help="Which documents.")] = Part.all,
    errors: Errors = 0,
    *,
    as_json: AsJson = False,
) -> None:
    """Measure a detector on annotated texts."""
    from sdrag.engine.effect_runner import PortRunner, Ports
    from sdrag.evaluation.entities import (
        measure,
        missed,
        read_annotated,
    )

    documents = [
        document
        for number, document in enumerate(read_annotated(data))
        if part is Part.all or (number % 3 == 2) == (part is Part.aside)
    ]
    chosen, runner = _chosen(engine), PortRunner(Ports())
    if errors:
        show_errors(missed(chosen, documents, runner), errors)
    show(measure(chosen, documents, runner), as_json=as_json)


def _chosen(engine: Which) -> Detector:
    """Return the detector of that name."""
    from sdrag.detectors.local import LocalDetector
    from sdrag.detectors.tagger import TaggerDetector, available

    if engine is Which.local and available():
        return TaggerDetector()
    return LocalDetector()
