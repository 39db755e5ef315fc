"""Options that several suites take, said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "Articles",
    "AsJson",
    "Errors",
    "KeyFile",
    "Limit",
    "RunOn",
    "SpillFolder",
    "TopK",
]

Articles = Annotated[
    Path | None, typer.Option(help="Articles; the shipped ones when missing.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]
Errors = Annotated[int, typer.Option(min=0, help="Show so many errors of each kind.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key", help="The key of the state; by default next to it, or as its URL says."
    ),
]
Limit = Annotated[
    int | None, typer.Option(min=1, help="How many articles; all when missing.")
]
RunOn = Annotated[
    Literal["local", "ray"], typer.Option("--engine", help="Where the work is done.")
]
SpillFolder = Annotated[
    Path | None,
    typer.Option("--ray-spill", help="Where Ray puts what memory does not hold."),
]
TopK = Annotated[int, typer.Option(min=1, help="Chunks retrieved.")]
