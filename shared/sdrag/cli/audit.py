"""`sdrag audit FILE`: what an audit log says, in counts, and as a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.cli.options import AsJson
from sdrag.cli.writing import check_writable, write_whole
from sdrag.errors import UsageError

if TYPE_CHECKING:
    from sdrag.privacy.audit_log import AuditSummary

__all__ = ["audit"]


def audit(
    file: Annotated[Path, typer.Argument(help="A log that `AuditLog` wrote.")],
    html: Annotated[Path | None, typer.Option(help="A page to write.")] = None,
    as_json: AsJson = False,
) -> None:
    """
    Sum up an audit log: what was decided, by which rule and why.

    A log holds codes, ids and counts. It holds no text, and neither does the page.

    Example: sdrag audit audit.jsonl --html audit.html
    """
    from sdrag.privacy.audit_log import summed

    if html is not None:
        check_writable(html)
    summary = summed(file)
    if not summary.stages:
        raise UsageError(
            f"{file} holds no audit event.", hint="Name a file that `AuditLog` wrote."
        )
    if html is not None:
        from sdrag.reports.audit_report import render_audit

        write_whole(html, render_audit(summary))
    for line in _lines(summary, html):
        typer.echo(line)
    if as_json:
        typer.echo(json.dumps(_result(summary)))


def _result(summary: AuditSummary) -> dict[str, Any]:
    from sdrag.reports.audit_report import latencies

    return {
        "events": summary.stages.total(),
        "unreadable": summary.unreadable,
        "first": summary.first,
        "last": summary.last,
        "stages": dict(summary.stages),
        "actions": dict(summary.actions),
        "reasons": [
            {"rule": rule, "reason": reason, "decisions": count}
            for (rule, reason), count in summary.rules.most_common()
        ],
        "constraints": dict(summary.constraints.most_common()),
        "spans": summary.spans,
        "seconds": latencies(summary),
        "model_calls": summary.model_calls,
        "tokens_in": summary.tokens_in,
        "tokens_out": summary.tokens_out,
        "policies": dict(summary.policies),
    }


def _lines(summary: AuditSummary, html: Path | None) -> Iterator[str]:
    yield f"{summary.stages.total()} events from {summary.first} to {summary.last}"
    actions = ", ".join(f"{n} {name}" for name, n in summary.actions.most_common())
    yield f"decisions: {actions or 'none'}; {summary.spans} spans replaced"
    for (rule, reason), count in summary.rules.most_common():
        yield f"  {rule}{f', {reason}' if reason else ''}: {count}"
    for name, count in summary.constraints.most_common():
        yield f"  constraint {name}: {count} passages"
    if summary.unreadable:
        yield f"{summary.unreadable} lines are no audit event, and were left out"
    if html is not None:
        yield f"Open {html} in a browser."
