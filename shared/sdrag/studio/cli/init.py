"""`sdrag init`: a policy, a document and a program for each framework."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdrag.errors import UsageError
from sdrag.studio.cli.common import unwritable

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
    starter = Path(__file__).with_name("starter")
    sources = [path for path in sorted(starter.rglob("*")) if path.is_file()]
    targets = [
        folder / path.relative_to(starter).with_name(path.name.removesuffix(".txt"))
        for path in sources
    ]
    for target in targets:
        if target.exists():
            raise UsageError(f"{target} exists already.", hint="Give another folder.")
    for source, target in zip(sources, targets, strict=True):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
        except OSError as error:
            raise unwritable(target, error) from None
        typer.echo(f"wrote {target}")
    typer.echo("\nTry next:")
    if folder != Path():
        typer.echo(f"  cd {folder}")
    for command, meaning in _NEXT:
        typer.echo(f"  {command:58}{meaning}")
