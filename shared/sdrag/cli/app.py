"""The commands, one file each."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from sdrag.cli.audit import audit
from sdrag.cli.bind import bind
from sdrag.cli.check import check
from sdrag.cli.eval import evaluate
from sdrag.cli.init import init
from sdrag.cli.mask import mask
from sdrag.cli.model_check import model_check
from sdrag.cli.preview import preview
from sdrag.cli.scan import scan
from sdrag.cli.suggest import suggest
from sdrag.cli.workbench import workbench

app = typer.Typer(
    help="Control what a RAG application discloses: check, preview, bind, measure.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for _command in (init, suggest, check, preview, workbench, bind, mask, scan, audit):
    app.command()(_command)
app.command("eval")(evaluate)
app.command("model-check")(model_check)


def _show_version(given: bool) -> None:  # noqa: FBT001 - Typer calls it with the flag
    if given:
        typer.echo(f"sdrag {version('sdrag')}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Control what a RAG application discloses: check, preview, bind, measure."""
