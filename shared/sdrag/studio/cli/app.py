"""The commands, one file each."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from inspect import getdoc
from typing import Annotated

import typer

from sdrag.studio.cli.audit import audit
from sdrag.studio.cli.bind import bind
from sdrag.studio.cli.check import check
from sdrag.studio.cli.eval import evaluate, model_check
from sdrag.studio.cli.init import init
from sdrag.studio.cli.mask import mask
from sdrag.studio.cli.preview import preview
from sdrag.studio.cli.scan import scan
from sdrag.studio.cli.state import rotate
from sdrag.studio.cli.suggest import suggest
from sdrag.studio.cli.tune import tune
from sdrag.studio.cli.workbench import workbench

app = typer.Typer(
    help="Control what a RAG application discloses: check, preview, bind, measure.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _help(command: Callable[..., None]) -> str:
    """Return the docstring in paragraphs, which Typer breaks where its lines end."""
    paragraphs = (getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


_COMMANDS = (init, suggest, check, preview, workbench, bind, mask, tune, scan, audit)
for _command in _COMMANDS:
    app.command(help=_help(_command))(_command)
state = typer.Typer(help="Care for a state.", no_args_is_help=True)
state.command(help=_help(rotate))(rotate)
app.add_typer(state, name="state")
app.command("eval", help=_help(evaluate))(evaluate)
app.command("model-check", help=_help(model_check))(model_check)


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
