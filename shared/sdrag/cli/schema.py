"""`sdrag schema`: the JSON schemas of policy files and of audit events."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.writing import check_writable, write_whole

__all__ = ["schema"]


class Which(StrEnum):
    """What there is a schema of."""

    POLICY = "policy"
    AUDIT = "audit"


def schema(
    which: Annotated[
        Which, typer.Argument(help="Of a policy file, or of a line of an audit log.")
    ] = Which.POLICY,
    output: Annotated[
        Path | None, typer.Option(help="A file to write; printed when missing.")
    ] = None,
) -> None:
    """
    Print the JSON schema of a policy file, which editors complete and check keys by.

    In Visual Studio Code with the YAML extension, write this as the first line of the
    policy: # yaml-language-server: $schema=policy.schema.json

    Example: sdrag schema --output policy.schema.json
    """
    from sdrag.policy import policy_schema
    from sdrag.privacy.audit_log import event_schema

    made = policy_schema() if which is Which.POLICY else event_schema()
    text = json.dumps(made, indent=2) + "\n"
    if output is None:
        typer.echo(text, nl=False)
        return
    check_writable(output)
    write_whole(output, text, shared=True)
    typer.echo(f"wrote {output}")
