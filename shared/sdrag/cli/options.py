"""Options that several suites take, said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Articles", "AsJson", "Errors", "Limit", "TopK"]

Articles = Annotated[
    Path | None, typer.Option(help="Articles; the shipped ones when missing.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]
Errors = Annotated[int, typer.Option(min=0, help="Show so many errors of each kind.")]
Limit = Annotated[
    int | None, typer.Option(min=1, help="How many articles; all when missing.")
]
TopK = Annotated[int, typer.Option(min=1, help="Chunks retrieved.")]
