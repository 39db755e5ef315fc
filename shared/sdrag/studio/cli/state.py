"""`sdrag state`: what an operator does with a state."""

from __future__ import annotations

from typing import Annotated

import typer

from sdrag.studio.cli.common import AsJson, KeyFile, show

_REFUSED = """\
Refused from now on: stamps of released passages and of redacted indexes, marks of
messages and of masked values, numbered placeholders, pseudonyms in audits. Copy the new
key to every host, start the applications again, and back up the state: an older backup
opens under the old key alone."""


def rotate(
    state: Annotated[str, typer.Argument(help="The file, or postgresql://...")],
    key: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """
    Give a state another key, and write it anew under that.

    Stop the applications first: who has it open is refused. A run that was stopped is
    run again. Prints what is refused under the new key.

    Example: sdrag state rotate sdrag.sqlite
    """
    from sdrag.state import open_state
    from sdrag.state.rotation import rotate as write_anew

    counts = write_anew(open_state(state, key=key, create=False))
    typer.echo(_REFUSED)
    show({"rows": counts}, as_json=as_json)
