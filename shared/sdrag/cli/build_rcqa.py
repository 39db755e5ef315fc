"""`sdrag build-rcqa FOLDER`: articles for `sdrag eval rcqa`, written by a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["build_rcqa"]


def build_rcqa(
    folder: Annotated[Path, typer.Argument(help="Where the articles are written.")],
    model: Annotated[str, typer.Option(help="PROVIDER:MODEL, as LangChain names it.")],
    base_url: Annotated[
        str | None,
        typer.Option(help="Of a server that speaks OpenAI's protocol; takes MODEL."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many articles.")] = 20,
    attempts: Annotated[
        int, typer.Option(min=1, help="How often an article is tried.")
    ] = 3,
) -> None:
    """Build test articles in the paper's six steps; run again to go on."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    from langchain_sdrag.article_builder import ArticleBuilder
    from sdrag.cli.models import chat_model, served_model

    llm = served_model(model, base_url) if base_url else chat_model(model)
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("Articles", total=count)
        built = ArticleBuilder(
            llm,
            count=count,
            attempts=attempts,
            progress=lambda done, _: bar.update(task, completed=done),
        ).invoke(folder)
    for topic in built.refused:
        typer.echo(f"refused: {topic.title}: {'; '.join(topic.problems)}", err=True)
    typer.echo(f"{len(built.paths)} of {count} articles are in {folder}")
    if built.refused:
        raise typer.Exit(1)
