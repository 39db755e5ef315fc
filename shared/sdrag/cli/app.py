"""The commands, one file each; `evaluate` holds the suites of `sdrag eval`."""

from __future__ import annotations

import typer

from sdrag.cli.bind import bind
from sdrag.cli.build_rcqa import build_rcqa
from sdrag.cli.check import check
from sdrag.cli.demo.command import demo
from sdrag.cli.evaluate import evaluate
from sdrag.cli.explain import explain
from sdrag.cli.init import init
from sdrag.cli.mask import mask
from sdrag.cli.preview import preview

__all__ = ["app"]

app = typer.Typer(
    help="Disclosure control for RAG: try it, check a policy, measure.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(evaluate, name="eval")
for _command in (demo, init, check, preview, explain, bind, mask, build_rcqa):
    app.command()(_command)
