"""Options that several commands take, said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "AsJson",
    "KeyFile",
    "RunOn",
    "SpillFolder",
]

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key", help="The key of the state; by default next to it, or as its URL says."
    ),
]
RunOn = Annotated[
    Literal["local", "ray"], typer.Option("--engine", help="Where the work is done.")
]
SpillFolder = Annotated[
    Path | None,
    typer.Option("--ray-spill", help="Where Ray puts what memory does not hold."),
]
