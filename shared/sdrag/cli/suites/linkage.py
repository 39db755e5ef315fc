"""`sdrag eval linkage`: links between documents, leakage and answers after masking."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.options import AsJson
from sdrag.cli.output import show

__all__ = ["command"]


class Entities(StrEnum):
    """Where entities come from."""

    given = "given"
    local = "local"


class Select(StrEnum):
    """How entities are selected for masking."""

    document = "document"
    greedy = "greedy"
    knapsack = "knapsack"
    optimal = "optimal"


def command(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Clusters in the thesis's schema; the package's own if none."
        ),
    ] = None,
    entities: Annotated[Entities, typer.Option(help="Given by the data, or found.")] = (
        Entities.given
    ),
    select: Annotated[Select, typer.Option(help="The strategy.")] = Select.knapsack,
    chain_length: Annotated[
        int, typer.Option(min=2, max=8, help="Documents in the longest chain.")
    ] = 2,
    policy: Annotated[
        Path | None, typer.Option(help="A policy, for its linkage section.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what links documents, and what masking leaves."""
    from sdrag.evaluation.linkage import evaluate_linkage
    from sdrag.evaluation.linkage_clusters import (
        packaged_clusters,
        read_clusters,
    )
    from sdrag.linkage.settings import read_settings

    clusters = packaged_clusters() if data is None else read_clusters(data)
    settings = read_settings(policy).model_copy(
        update={"select": select.value, "chain_length": chain_length}
    )
    detector = None
    if entities is Entities.local:
        from sdrag.detectors.local import LocalDetector

        detector = LocalDetector()
    show(evaluate_linkage(clusters, settings, detector), as_json=as_json)
