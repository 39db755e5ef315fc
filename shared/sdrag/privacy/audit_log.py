"""
Audit events in a file: one JSON object a line, which only its owner can read.

`sdrag check --schema audit` prints the schema of a line; `sdrag audit FILE` sums a log
up.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from sdrag.errors import UsageError
from sdrag.privacy.audit import AuditEvent

VERSION = 1
"""Of what a line is; the studio reads and describes it."""

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_OWNER_ONLY = 0o600


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
        line = {"version": VERSION, "time": now, **event.as_dict()}
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
