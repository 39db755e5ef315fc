"""
Audit events in a file: one JSON object a line, which only its owner can read.

`sdrag schema audit` prints the schema of a line, and `sdrag audit FILE` sums a log up.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from sdrag.errors import UsageError
from sdrag.privacy.audit import AuditEvent
from sdrag.reasons import REASONS

__all__ = ["AuditLog", "AuditSummary", "LogLine", "event_schema", "read_log", "summed"]

_VERSION = 1
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_OWNER_ONLY = 0o600
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class AuditLog:
    """
    A sink that appends each event to a file.

    Several threads and processes may append to one file: a line is one write. A file
    that is made is readable by its owner alone.

    Example:
        ```python
        retriever = SelectiveDisclosureRetriever(
            base_retriever=host, policy="policy.yaml", audit=AuditLog("audit.jsonl")
        )
        ```

    Args:
        path: Of the file; it is made when the log is.

    Raises:
        UsageError: The file cannot be opened, or later not be written.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path).absolute()
        self._append(b"")

    def __call__(self, event: AuditEvent) -> None:
        """Append an event."""
        line = {
            "version": _VERSION,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            **event.as_dict(),
        }
        self._append(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def _append(self, data: bytes) -> None:
        try:
            file = os.open(self._path, _APPEND, _OWNER_ONLY)
            try:
                if os.write(file, data) < len(data):
                    raise OSError("cut off")
            finally:
                os.close(file)
        except OSError as error:
            raise UsageError(
                f"The audit log cannot be written ({type(error).__name__}).",
                hint="Give a path in a folder that the application may write to.",
            ) from None


@dataclass(frozen=True, slots=True)
class LogLine:
    """
    One line of a log.

    Args:
        time: When the event was written, ISO 8601 in UTC.
        event: The event.
    """

    time: str
    event: AuditEvent


@dataclass(slots=True)
class AuditSummary:
    """
    What a log holds, in counts.

    Args:
        stages: Events by stage.
        actions: Decisions by action.
        rules: Decisions by rule and reason; a reason may be empty.
        constraints: Passages by the constraint that was applied to them.
        spans: Stretches of text that were replaced.
        policies: Events by the hash of the policy in force.
        seconds: The wall time of each event, by stage.
        model_calls: Prompts that were sent.
        tokens_in: What models read.
        tokens_out: What models wrote.
        first: The time of the first event; empty where there is none.
        last: That of the last one.
        unreadable: Lines that are no audit event.
    """

    stages: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    rules: Counter[tuple[str, str]] = field(default_factory=Counter)
    constraints: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    spans: int = 0
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    first: str = ""
    last: str = ""
    unreadable: int = 0

    def add(self, line: LogLine) -> None:
        """Count an event."""
        event = line.event
        self.first = self.first or line.time
        self.last = line.time
        self.stages[event.stage] += 1
        self.policies[event.policy_hash] += 1
        self.seconds.setdefault(event.stage, []).append(event.seconds)
        self.model_calls += event.model_calls
        self.tokens_in += event.tokens_in
        self.tokens_out += event.tokens_out
        for decision in event.decisions:
            self.actions[decision.action] += 1
            self.rules[decision.rule, decision.reason] += 1
            self.constraints.update(decision.constraint_ids)
            self.spans += decision.spans


def read_log(path: Path) -> Iterator[LogLine | None]:
    """
    Yield the lines of a log; None for a line that is no audit event.

    Raises:
        UsageError: The file cannot be read.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for text in file:
                if text.strip():
                    yield _line(text)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({type(error).__name__}).",
            hint="Name a file that `AuditLog` wrote.",
        ) from None


def summed(path: Path) -> AuditSummary:
    """Return what a log holds, in counts; as `read_log`."""
    summary = AuditSummary()
    for line in read_log(path):
        if line is None:
            summary.unreadable += 1
        else:
            summary.add(line)
    return summary


def event_schema() -> dict[str, Any]:
    """
    Return the JSON schema (draft 2020-12) of one line of a log, as plain data.

    A reason is empty, one of the codes, or a code after what it was hidden in.
    """
    schema = _EVENT.json_schema()
    schema["properties"] = {
        "version": {"const": _VERSION, "description": "Of this schema."},
        "time": {"type": "string", "format": "date-time", "description": "In UTC."},
        **schema["properties"],
    }
    schema["required"] = ["version", "time", *schema["required"]]
    schema["$defs"]["Decision"]["properties"]["reason"]["examples"] = sorted(REASONS)
    return {"$schema": _DIALECT, **schema, "title": "sdrag audit event"}


_EVENT = TypeAdapter(AuditEvent)


def _line(text: str) -> LogLine | None:
    try:
        said = json.loads(text)
        if not isinstance(said, Mapping) or said.get("version") != _VERSION:
            return None
        event = {k: v for k, v in said.items() if k not in {"version", "time"}}
        time = datetime.fromisoformat(said["time"])
        return LogLine(time.isoformat(), _EVENT.validate_python(event))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
