"""
Decisions as events without content, and the file that they may be written to.

An event says what was decided, by which rule, under which policy and how long it took.
It holds ids, codes and counts; nothing in it can quote a passage. Where it goes is the
host's choice: a sink is any callable. The default sink is the logger `sdrag.audit`.

An `AuditLog` writes one JSON object a line. `sdrag check --schema audit` prints the
schema of a line; `sdrag audit FILE` sums a log up.
"""

from __future__ import annotations

import json
import logging
import os
from asyncio import CancelledError
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sdrag.errors import HostError, UsageError
from sdrag.privacy.reasons import MODEL_FAILURES
from sdrag.vocabulary import Decision

_logger = logging.getLogger("sdrag.audit")


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """
    What one request decided.

    Args:
        stage: The hook that ran, such as `retrieve`.
        policy_hash: Of the policy in force, under a key: events of one policy have the
            same, and nobody can test a guess of the policy against it.
        decisions: One per passage or answer.
        seconds: Wall time of the hook.
        model_calls: How many prompts were sent; one that was sent again counts again.
        tokens_in: What the model read, as its provider reports it, else estimated.
        tokens_out: What it wrote, likewise.
        round_trips: How often it was waited for: prompts sent together are one.
        model_failures: How it failed: the status, or else the error's type, and the
            name of the host, such as `503@api.example.com`; or `timeout`.
        seconds_waited: Of `seconds`, those for which models and the host were waited
            for; the others are local work.
        error: The code of what was raised, such as `failed-host`; else empty.
        principal: A keyed pseudonym of who asked: the same as long as the state has one
            key. Whoever has the key finds a person's events by it; empty for nobody.
        request_id: Which request of the application it was a part of; see `acting_as`.
    """

    stage: str
    policy_hash: str
    decisions: tuple[Decision, ...]
    seconds: float
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    round_trips: int = 0
    model_failures: tuple[str, ...] = ()
    seconds_waited: float = 0.0
    error: str = ""
    principal: str = ""
    request_id: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for a callback or a log processor."""
        return asdict(self)


AuditSink = Callable[[AuditEvent], None]
"""Takes events. It must not raise; what it raises is the host's to see."""


def log_event(event: AuditEvent) -> None:
    """Write an event to the logger `sdrag.audit`, as data on the record."""
    counts = dict(Counter(decision.action for decision in event.decisions))
    _logger.info(
        "%s %s in %.4f s", event.stage, counts, event.seconds, extra={"audit": event}
    )


def count_failures(
    events: Iterable[AuditEvent], codes: Iterable[str] = ()
) -> dict[str, int]:
    """Count how a model failed: its servers, and codes, those of decisions too."""
    causes, reasons = Counter[str](), Counter(codes)
    for event in events:
        causes.update(event.model_failures)
        reasons.update(decision.reason for decision in event.decisions)
    return causes | {code: n for code, n in reasons.items() if code in MODEL_FAILURES}


def emit(event: AuditEvent, sinks: Iterable[AuditSink]) -> None:
    """
    Hand an event to every sink.

    Raises:
        HostError: One failed; the others have it.
    """
    failed = ""
    for sink in sinks:
        try:
            sink(event)
        except (Exception, CancelledError) as error:  # noqa: BLE001 -- the sink's own
            failed = type(error).__name__
    if failed:
        raise HostError(
            f"An audit sink failed with {failed}.",
            hint="Nothing was released, for it could not be recorded.",
        )


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
