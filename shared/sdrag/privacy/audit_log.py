"""
Audit events in a file: one JSON object a line, which only its owner can read.

`sdrag check --schema audit` prints the schema of a line; `sdrag audit FILE` sums a log
up.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from sdrag.errors import UsageError
from sdrag.privacy.audit import AuditEvent
from sdrag.privacy.reasons import REASONS

__all__ = ["AuditLog", "event_schema", "read_log"]

_VERSION = 1
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_OWNER_ONLY = 0o600
_EVENT = TypeAdapter(AuditEvent)


class AuditLog:
    """
    A sink that appends each event to a file.

    Several threads and processes may append to one file: a line is one write. A file
    that is made is readable by its owner alone.

    Example:
        ```python
        retriever = SelectiveDisclosureRetriever(
            base_retriever=store.as_retriever(),
            policy="policy.yaml",
            options=Options(audit=AuditLog("audit.jsonl")),
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
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"version": _VERSION, "time": now, **event.as_dict()}
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


def read_log(path: Path) -> Iterator[tuple[str, AuditEvent] | None]:
    """
    Yield the time (ISO 8601) and the event of each line; None where it holds no event.

    Raises:
        UsageError: The file cannot be read.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from (_read(line) for line in file if line.strip())
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({type(error).__name__}).",
            hint="Name a file that `AuditLog` wrote.",
        ) from None


def _read(line: str) -> tuple[str, AuditEvent] | None:
    try:
        event = json.loads(line)
        if event.pop("version") != _VERSION:
            return None
        time = datetime.fromisoformat(event.pop("time")).isoformat()
        return time, _EVENT.validate_python(event)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def event_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of one line of a log, as plain data."""
    schema = _EVENT.json_schema()
    schema["properties"] = {
        "version": {"const": _VERSION, "description": "Of this schema."},
        "time": {"type": "string", "format": "date-time", "description": "In UTC."},
        **schema["properties"],
    }
    schema["required"] = ["version", "time", *schema["required"]]
    # A reason is empty, one of the codes, or a code after what it was hidden in.
    schema["$defs"]["Decision"]["properties"]["reason"]["examples"] = sorted(REASONS)
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **schema, "title": "sdrag audit event"}
