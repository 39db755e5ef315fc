"""`sdrag eval wordings`: is what officers write enforced, or refused?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdrag.cli.options import AsJson, Errors
from sdrag.cli.output import show, show_errors

if TYPE_CHECKING:
    from sdrag.evaluation.wordings import Judged

__all__ = ["command"]


def command(
    data: Annotated[
        Path | None, typer.Option(help="JSON lines; the shipped ones when missing.")
    ] = None,
    errors: Errors = 0,
    *,
    as_json: AsJson = False,
) -> None:
    """Try wordings of constraints on texts, with the local engine alone."""
    from sdrag.evaluation.wordings import evaluate_wordings, read_wordings

    result = evaluate_wordings(read_wordings(data), partial(_list, errors))
    show(result, as_json=as_json)


def _list(limit: int, judged: Sequence[Judged]) -> None:
    """Show what was released, and what was refused and should be enforced."""
    failures = (
        {
            "kind": f"{case.outcome}, {case.wording['group']}",
            "before": case.wording["constraint"],
            "text": "; ".join(case.wording["secret"]),
            "after": case.left,
        }
        for case in judged
        if case.outcome == "released"
        or (case.outcome == "refused" and case.wording["expect"] == "enforce")
    )
    if limit:
        show_errors(failures, limit)
