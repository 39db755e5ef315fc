"""`sdrag eval entities`: how well what identifies people is found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.options import AsJson
from sdrag.cli.output import show
from sdrag.detectors import Detector

__all__ = ["command"]


class Part(StrEnum):
    """Which documents: two thirds to tune on, one third, by number, kept aside."""

    all = "all"
    tuning = "tuning"
    aside = "aside"


def command(
    data: Annotated[Path, typer.Option(help="Annotated texts, JSON or JSON lines.")],
    engine: Annotated[str, typer.Option(help="The detector: local.")] = "local",
    part: Annotated[Part, typer.Option(help="Which documents.")] = Part.all,
    errors: Annotated[int, typer.Option(help="Show so many errors of each kind.")] = 0,
    *,
    as_json: AsJson = False,
) -> None:
    """Measure a detector on annotated texts."""
    from sdrag.evaluation.entities import (
        measure,
        missed,
        read_annotated,
    )
    from sdrag.performing import PortPerformer, Ports

    documents = [
        document
        for number, document in enumerate(read_annotated(data))
        if part is Part.all or (number % 3 == 2) == (part is Part.aside)
    ]
    chosen, performer = _chosen(engine), PortPerformer(Ports())
    if errors:
        _list(missed(chosen, documents, performer), errors)
    show(measure(chosen, documents, performer), as_json=as_json)


def _chosen(name: str) -> Detector:
    """Return the detector of that name."""
    from sdrag.detectors.local import LocalDetector

    if name == "local":
        return LocalDetector()
    raise typer.BadParameter("The detectors are: local.")


def _list(found: Iterable[Mapping[str, str]], limit: int) -> None:
    """Print the first errors of each kind, and how many there are."""
    shown: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    count: Counter[str] = Counter()
    for error in found:
        count[error["kind"]] += 1
        shown[error["kind"]].append(error)
    for kind, times in count.most_common():
        typer.echo(f"{times} {kind}")
        step = max(1, times // limit)
        for error in shown[kind][::step][:limit]:
            before, after = (" ".join(error[k].split()) for k in ("before", "after"))
            typer.echo(f"    {before} [{error['text']}] {after}")
