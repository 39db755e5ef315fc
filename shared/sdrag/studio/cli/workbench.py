"""`sdrag workbench`: write a policy in a browser, next to one's own documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdrag.errors import UsageError, require_extra


def workbench(
    policy: Annotated[
        Path | None, typer.Argument(help="A policy file; a sample when missing.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="A folder or file of documents to open.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes any.")
    ] = 8765,
) -> None:
    """
    Write a policy in a browser, and see at once what it hides and why.

    Listens on 127.0.0.1 alone. Open the printed address, which holds a token. Nothing
    is written to a disk. Ctrl-C ends it.

    Example: sdrag workbench policy.yaml --documents documents
    """
    text = None if policy is None else _text_of(policy)
    if documents is not None and not documents.exists():
        raise UsageError(f"There is no {documents}.", hint="Check --documents.")
    with require_extra("workbench", "The workbench"):
        from sdrag.studio.workbench.app import Workbench
        from sdrag.studio.workbench.serving import serve

    serve(Workbench(policy, text, documents), port, _announce)


def _text_of(policy: Path) -> str:
    """Return the text of a policy file; what is wrong in it is shown in the page."""
    from sdrag.policy.reading import text_of

    if not policy.is_file():
        raise UsageError(f"{policy} is no file.", hint="Name a policy file.")
    return text_of(policy)


def _announce(address: str) -> None:
    typer.echo(f"Open {address}")
    typer.echo("The address lets in whoever has it. Ctrl-C ends the workbench.")
