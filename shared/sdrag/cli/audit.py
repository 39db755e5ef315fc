"""`sdrag audit`: what an audit log says, in counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from sdrag.cli.common import AsJson, counted, show_json
from sdrag.errors import UsageError


def audit(
    file: Annotated[Path, typer.Argument(help="A log that `AuditLog` wrote.")],
    as_json: AsJson = False,
) -> None:
    """
    Count what an audit log says: decisions, their reasons, and calls of a model.

    A log holds codes, ids and counts. It holds no text.

    Example: sdrag audit audit.jsonl
    """
    from sdrag.privacy.audit_log import read_log

    lines = list(read_log(file))
    events = [line for line in lines if line is not None]
    if not events:
        raise UsageError(
            f"{file} holds no audit event.", hint="Name a file that `AuditLog` wrote."
        )
    first, last = events[0][0], events[-1][0]
    stages = Counter(event.stage for _, event in events)
    decisions = [decision for _, event in events for decision in event.decisions]
    actions = Counter(decision.action for decision in decisions)
    reasons = Counter((decision.rule, decision.reason) for decision in decisions)
    constraints = Counter(name for d in decisions for name in d.constraint_ids)
    totals = {
        "spans": sum(decision.spans for decision in decisions),
        "model_calls": sum(event.model_calls for _, event in events),
        "tokens_in": sum(event.tokens_in for _, event in events),
        "tokens_out": sum(event.tokens_out for _, event in events),
        "unreadable": len(lines) - len(events),
    }
    typer.echo(f"{counted(len(events), 'event')} from {first} to {last}")
    for action, count in actions.most_common():
        typer.echo(f"{action}: {counted(count, 'passage')}")
    for (rule, reason), count in reasons.most_common():
        typer.echo(f"  {rule}{f', {reason}' if reason else ''}: {count:,}")
    for name, count in constraints.most_common():
        typer.echo(f"  constraint {name}: {counted(count, 'passage')}")
    typer.echo(
        f"{counted(totals['spans'], 'span')} replaced, "
        f"{counted(totals['model_calls'], 'model call')}, "
        f"{totals['tokens_in']:,} tokens in, {totals['tokens_out']:,} out"
    )
    if totals["unreadable"]:
        typer.echo(f"{counted(totals['unreadable'], 'line')} left out: no audit event")
    result = {
        "events": len(events),
        "first": first,
        "last": last,
        "stages": stages,
        "actions": actions,
        "reasons": [
            {"rule": rule, "reason": reason, "decisions": count}
            for (rule, reason), count in reasons.most_common()
        ],
        "constraints": constraints,
        **totals,
    }
    show_json(result, wanted=as_json)
