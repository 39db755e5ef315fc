"""`sdrag audit`: what an audit log says, in counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from sdrag.errors import UsageError
from sdrag.studio.cli.common import AsJson, show


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
    events = [event for _, event in filter(None, lines)]
    times = [time for time, _ in filter(None, lines)]
    if not events:
        raise UsageError(
            f"{file} holds no audit event.", hint="Name a file that `AuditLog` wrote."
        )
    decisions = [decision for event in events for decision in event.decisions]
    reasons = Counter((d.rule, d.reason) for d in decisions)
    result = {
        "events": len(events),
        "first": times[0],
        "last": times[-1],
        "stages": Counter(event.stage for event in events),
        "actions": Counter(decision.action for decision in decisions),
        "reasons": [
            {"rule": rule, "reason": reason, "decisions": count}
            for (rule, reason), count in reasons.most_common()
        ],
        "constraints": Counter(name for d in decisions for name in d.constraint_ids),
        "spans": sum(decision.spans for decision in decisions),
        "model_calls": sum(event.model_calls for event in events),
        "tokens_in": sum(event.tokens_in for event in events),
        "tokens_out": sum(event.tokens_out for event in events),
        "unreadable": len(lines) - len(events),
    }
    show(result, as_json=as_json)
