"""`sdrag eval highlight`: what a highlighter finds, and when it declines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.models import complete_with
from sdrag.cli.options import AsJson
from sdrag.cli.output import show
from sdrag.errors import UsageError


def command(
    data: Annotated[Path, typer.Option(help="A SQuAD-style JSON file.")],
    engine: Annotated[
        str, typer.Option(help="local, or langchain:PROVIDER:MODEL.")
    ] = "local",
    highlighter: Annotated[
        str,
        typer.Option(help="local, baseline, structured, two_steps or span."),
    ] = "",
    cut_at: Annotated[str, typer.Option(help="words, scope or sentences.")] = "scope",
    min_words: Annotated[int, typer.Option(min=1, help="Of a highlight.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Measure highlights against the gold passage, and declining."""
    from sdrag.engine.calls import Port
    from sdrag.engine.effect_runner import PortRunner, Ports
    from sdrag.evaluation.highlight import evaluate_highlighter
    from sdrag.evaluation.highlight_data import read_squad
    from sdrag.highlight.exchange import Settings
    from sdrag.highlight.highlighters import highlighter_named
    from sdrag.policy import Policy

    complete = complete_with(engine)
    name = highlighter or ("structured" if complete else "local")
    if complete is None and name != "local":
        raise UsageError("That highlighter asks a model.", hint="Pass --engine.")
    rules = Policy.read({"highlight": {"cut_at": cut_at, "min_words": min_words}})
    settings = Settings(highlighter_named(name), rules.highlight)
    runner = PortRunner(Ports(complete=Port(complete) if complete else None))
    result = evaluate_highlighter(read_squad(data), settings, runner)
    show({"highlighter": name, "cut_at": cut_at, **result}, as_json=as_json)
