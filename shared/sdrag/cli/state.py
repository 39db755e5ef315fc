"""`sdrag state`: what is remembered, as files and databases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.options import KeyFile
from sdrag.errors import UsageError
from sdrag.policy import Policy

__all__ = ["state"]

state = typer.Typer(help="Work with states: files, or PostgreSQL.")


@state.callback()
def _states() -> None:
    """Work with states: files, or PostgreSQL."""


@state.command()
def merge(
    policy: Annotated[Path, typer.Argument(help="The policy that all were bound to.")],
    into: Annotated[str, typer.Argument(help="A file, or postgresql://...")],
    shards: Annotated[list[str], typer.Argument(help="States that exist already.")],
    key: KeyFile = None,
) -> None:
    """
    Add what states hold to one state; all of them have the same key.

    It only adds, and may be run again.

    Example: sdrag state merge policy.yaml all.db one.db two.db --key all.key
    """
    from sdrag.state import merge_states, open_state
    from sdrag.state.address import is_postgres
    from sdrag.state.opening import known_name

    section = Policy.read(policy).disclosure
    for number, shard in enumerate(shards, start=1):
        if not is_postgres(shard) and not Path(shard).is_file():
            # Not quoted: a mistyped URL holds a password.
            raise UsageError(f"There is no state {number}.", hint="Bind it first.")
    opened = [open_state(shard, key=key) for shard in shards]
    if {one.name for one in opened} != {known_name(into, key=key)}:
        # Refused before anything is made.
        raise UsageError(
            "All states must have one key, the one that they are merged into too.",
            hint="Name its file with --key, and have all workers open theirs with it.",
        )
    merge_states(
        open_state(into, key=key),
        opened,
        top_n=section.bind_top_n,
        floor=section.similarity_floor,
    )
    typer.echo(f"merged: {len(opened)}")
