"""`sdrag explain POLICY`: why one text is redacted as it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdrag.cli.models import complete_with
from sdrag.cli.options import AsJson
from sdrag.errors import UsageError
from sdrag.policy import Policy

if TYPE_CHECKING:
    from sdrag.explanation import Explanation

__all__ = ["explain"]

_MAX_BYTES = 1_000_000


def explain(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
    text: Annotated[
        str | None, typer.Option(help="The text; read from stdin when missing.")
    ] = None,
    role: Annotated[
        list[str] | None, typer.Option("--as", help="A role of who asks; repeatable.")
    ] = None,
    llm: Annotated[
        str, typer.Option(help="local, or langchain:PROVIDER:MODEL.")
    ] = "local",
    as_json: AsJson = False,
) -> None:
    """
    Explain one text: every span, its constraint, who found it, and how sure.

    The text itself is shown: run it where whoever looks may read the text. With --json
    the last line holds offsets and no text.

    Example: sdrag explain policy.yaml --text "The witness Jonathan Meyers spoke."
    """
    from sdrag.explanation import explain as explain_text
    from sdrag.vocabulary import Principal

    read = Policy.read(policy)
    complete = complete_with(llm, "--llm")
    given = _stdin() if text is None else text
    if not given.strip():
        raise UsageError("There is no text.", hint="Give --text, or text on stdin.")
    asker = Principal("preview", roles=frozenset(role)) if role else None
    explanation = explain_text(given, read, principal=asker, complete=complete)
    _show(explanation)
    if as_json:
        typer.echo(json.dumps({"spans": explanation.as_dict()["spans"]}))


def _stdin() -> str:
    if sys.stdin.isatty():
        return ""
    data = sys.stdin.buffer.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise UsageError(
            f"The text is longer than {_MAX_BYTES:,} bytes.",
            hint="`sdrag preview` takes files.",
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError("The text on stdin is not UTF-8.") from None


def _show(explanation: Explanation) -> None:
    """Print what leaves, then each span with its reason."""
    if explanation.released is None:
        typer.echo(f"withheld ({explanation.reason})\n")
    else:
        typer.echo(f"{explanation.released}\n")
    for heading, spans in (
        ("hidden", explanation.spans),
        ("considered and shown", explanation.left),
    ):
        if spans:
            typer.echo(f"{heading}:")
        for found in spans:
            value = json.dumps(found.span.of(explanation.text), ensure_ascii=False)
            typer.echo(f"  {value}  {found.constraint_id}: {found.why}")
    if not explanation.spans:
        typer.echo("Nothing is hidden.")
