"""`sdrag audit FILE`: what an audit log says, in counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.cli.common import AsJson
from sdrag.errors import UsageError

if TYPE_CHECKING:
    from sdrag.privacy.audit import AuditEvent

__all__ = ["audit"]


def audit(
    file: Annotated[Path, typer.Argument(help="A log that `AuditLog` wrote.")],
    as_json: AsJson = False,
) -> None:
    """
    Sum up an audit log: what was decided, by which rule and why.

    A log holds codes, ids and counts. It holds no text.

    Example: sdrag audit audit.jsonl
    """
    from sdrag.privacy.audit_log import read_log

    summary = _Summary()
    for line in read_log(file):
        summary.add(line)
    if not summary.stages:
        raise UsageError(
            f"{file} holds no audit event.", hint="Name a file that `AuditLog` wrote."
        )
    for text in _lines(summary):
        typer.echo(text)
    if as_json:
        typer.echo(json.dumps(_result(summary)))


@dataclass(slots=True)
class _Summary:
    """What a log holds, in counts."""

    stages: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    rules: Counter[tuple[str, str]] = field(default_factory=Counter)
    constraints: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=Counter)
    totals: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    first: str = ""
    last: str = ""

    def add(self, line: tuple[str, AuditEvent] | None) -> None:
        """Count a line."""
        if line is None:
            self.totals["unreadable"] += 1
            return
        self.last, event = line
        self.first = self.first or self.last
        self.stages[event.stage] += 1
        self.policies[event.policy_hash] += 1
        self.seconds.setdefault(event.stage, []).append(event.seconds)
        for name in ("model_calls", "tokens_in", "tokens_out"):
            self.totals[name] += getattr(event, name)
        for decision in event.decisions:
            self.actions[decision.action] += 1
            self.rules[decision.rule, decision.reason] += 1
            self.constraints.update(decision.constraint_ids)
            self.totals["spans"] += decision.spans


def _result(summary: _Summary) -> dict[str, Any]:
    names = ("unreadable", "spans", "model_calls", "tokens_in", "tokens_out")
    return {
        "events": summary.stages.total(),
        "first": summary.first,
        "last": summary.last,
        "stages": dict(summary.stages),
        "actions": dict(summary.actions),
        "reasons": [
            {"rule": rule, "reason": reason, "decisions": count}
            for (rule, reason), count in summary.rules.most_common()
        ],
        "constraints": dict(summary.constraints.most_common()),
        "seconds": {name: _times(values) for name, values in summary.seconds.items()},
        **{name: summary.totals[name] for name in names},
        "policies": dict(summary.policies),
    }


def _times(seconds: list[float]) -> dict[str, float]:
    """Return the median, the 95th percentile and the most."""
    parts = quantiles(seconds, n=100, method="inclusive") if seconds[1:] else seconds
    return {"p50": parts[len(parts) // 2], "p95": parts[-5:][0], "most": max(seconds)}


def _lines(summary: _Summary) -> Iterator[str]:
    yield f"{summary.stages.total()} events from {summary.first} to {summary.last}"
    actions = ", ".join(f"{n} {name}" for name, n in summary.actions.most_common())
    spans = summary.totals["spans"]
    yield f"decisions: {actions or 'none'}; {spans} spans replaced"
    for (rule, reason), count in summary.rules.most_common():
        yield f"  {rule}{f', {reason}' if reason else ''}: {count}"
    for name, count in summary.constraints.most_common():
        yield f"  constraint {name}: {count} passages"
    if unreadable := summary.totals["unreadable"]:
        yield f"{unreadable} lines are no audit event, and were left out"
