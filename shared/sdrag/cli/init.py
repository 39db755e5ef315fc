"""`sdrag init`: a policy, a document and a program for each framework."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from sdrag.errors import UsageError

__all__ = ["init"]

_NEXT = (
    ("sdrag check policy.yaml", "how each constraint is understood"),
    ("sdrag preview policy.yaml documents --html preview.html", "in colour"),
    ("sdrag eval policy.yaml articles.json", "how much leaks"),
    ("sdrag workbench policy.yaml --documents documents", "to try and tune it"),
    ("python with_langchain.py", "the same documents behind a retriever"),
    ("python with_llamaindex.py", "the same in LlamaIndex"),
)


def init(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Where to write; made if it does not exist.", show_default="here"
        ),
    ] = Path(),
) -> None:
    """
    Write a commented policy, a sample document and a program for each framework.

    Nothing that exists is overwritten.

    Example: sdrag init harbour
    """
    source_folder = files("sdrag.cli").joinpath("starter")
    starter = dict(_starter(source_folder, PurePosixPath()))
    for name in starter:
        if (folder / name).exists():
            raise UsageError(
                f"{folder / name} exists already.", hint="Give another folder."
            )
    for name, source in starter.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source.read_bytes())
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written ({type(error).__name__}).",
                hint="Give a folder that you may write to.",
            ) from None
        typer.echo(f"wrote {path}")
    typer.echo("\nTry next:")
    if folder != Path():
        typer.echo(f"  cd {folder}")
    for command, meaning in _NEXT:
        typer.echo(f"  {command:58}{meaning}")


def _starter(
    folder: Traversable, name: PurePosixPath
) -> Iterator[tuple[str, Traversable]]:
    """Yield each file of the starter, by the path it is written to."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        below = name / entry.name.removesuffix(".txt")
        if entry.is_dir():
            yield from _starter(entry, below)
        else:
            yield str(below), entry
