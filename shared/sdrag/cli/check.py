"""`sdrag check`: read a policy as the package does, and say what it will do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdrag.policy import Policy

__all__ = ["check"]

_GUARDS = ("access", "relevance", "injection", "staleness")


def check(
    policy: Annotated[Path, typer.Argument(help="A policy file.")],
) -> None:
    """
    Check a policy file; errors name the line and the key.

    The constraints' words are confidential and are not printed.
    """
    read = Policy.read(policy)
    typer.echo(f"{policy}: a valid policy, hash {read.hash}")
    for rule in read.rules:
        limits = [
            name
            for name, given in (
                ("where", rule.where),
                ("unless", rule.unless),
                ("always", rule.always),
            )
            if given
        ]
        typer.echo(f"  {rule.id}: {rule.method} {' '.join(limits)}".rstrip())
    on = [name for name in _GUARDS if getattr(read, name) is not None]
    typer.echo(f"  guards: {', '.join(on) or 'none'}")
    if not read.metadata.allow:
        typer.echo("  metadata: every key stays behind (metadata.allow is empty)")
