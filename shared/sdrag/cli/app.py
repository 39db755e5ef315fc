"""The commands, one file each; `eval` takes every suite found in `suites`."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import typer

from sdrag.cli import suites
from sdrag.cli.bind import bind
from sdrag.cli.build_rcqa import build_rcqa
from sdrag.cli.check import check
from sdrag.cli.demo.command import demo
from sdrag.cli.mask import mask

__all__ = ["app"]

app = typer.Typer(
    help="Disclosure control for RAG: try it, check a policy, measure.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
evaluate = typer.Typer(
    help="Measure; with --json the last line printed is one JSON object.",
    no_args_is_help=True,
)
app.add_typer(evaluate, name="eval")
app.command()(demo)
app.command()(check)
app.command()(bind)
app.command()(mask)
app.command()(build_rcqa)

for _module in sorted(module.name for module in pkgutil.iter_modules(suites.__path__)):
    _suite = import_module(f"sdrag.cli.suites.{_module}")
    evaluate.command(_module.replace("_", "-"))(_suite.command)
