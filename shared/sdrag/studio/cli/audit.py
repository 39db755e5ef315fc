"""`sdrag audit`: what an audit log says, in counts, and what one person was shown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter

from sdrag.errors import UsageError
from sdrag.privacy.audit import VERSION, AuditEvent
from sdrag.privacy.reasons import REASONS
from sdrag.state.key_file import file_failures, read_key
from sdrag.state.keys import Keys
from sdrag.studio.cli.common import AsJson, show
from sdrag.vocabulary import Principal

_EVENT = TypeAdapter(AuditEvent)
_SHOWING = {"retrieve", "disclose"}


def audit(
    file: Annotated[Path, typer.Argument(help="A log that `AuditLog` wrote.")],
    who: Annotated[
        str | None,
        typer.Option(help="The id of a principal: list what it was shown instead."),
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Its tenant, if any.")] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="The state's key file, as it was then."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """
    Count what an audit log says: decisions, their reasons, and calls of a model.

    A log holds codes, ids and counts, and a pseudonym of who asked. It holds no text.

    Example: sdrag audit audit.jsonl

    Example: sdrag audit audit.jsonl --who clerk-7 --key sdrag.sqlite.key
    """
    lines = list(read_log(file))
    if who is not None:
        show(_find_shown(lines, Principal(who, tenant), key), as_json=as_json)
        return
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


def _find_shown(
    lines: list[tuple[str, AuditEvent] | None], person: Principal, key: Path | None
) -> dict[str, Any]:
    """Return which passages a person was shown, in which request, and when."""
    if key is None:
        raise UsageError("--who needs --key.", hint="Name the key file of the state.")
    with file_failures():
        pseudonym = Keys(read_key(key)).person(person)
    theirs = [line for line in lines if line and line[1].principal == pseudonym]
    return {
        "requests": len({event.request_id for _, event in theirs}),
        "shown": [
            {"passage": name, "request": event.request_id, "time": time}
            for time, event in theirs
            for name in _shown_in(event)
        ],
    }


def _shown_in(event: AuditEvent) -> list[str]:
    """
    Return the passages that were let through, and by no later decision withheld.

    One id may name two, so one that the policy withholds takes no other back.
    """
    shown = Counter[str]()
    for decision in event.decisions if event.stage in _SHOWING else ():
        is_out = decision.action in {"dropped", "withheld"}
        if decision.rule == "disclosure":
            shown[decision.subject] += not is_out
        elif is_out:
            shown[decision.subject] = max(0, shown[decision.subject] - 1)
    return [name for name, times in shown.items() if times]


def read_log(path: Path) -> Iterator[tuple[str, AuditEvent] | None]:
    """Yield the ISO time and the event of each line; None where it holds none."""
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
        if event.pop("version") != VERSION:
            return None
        time = datetime.fromisoformat(event.pop("time")).isoformat()
        return time, _EVENT.validate_python(event)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def event_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of one line of a log, as plain data."""
    schema = _EVENT.json_schema()
    schema["properties"] = {
        "version": {"const": VERSION, "description": "Of this schema."},
        "time": {"type": "string", "format": "date-time", "description": "In UTC."},
        **schema["properties"],
    }
    schema["required"] = ["version", "time", *schema["required"]]
    # A reason is empty, one of the codes, or a code after what it was hidden in.
    schema["$defs"]["Decision"]["properties"]["reason"]["examples"] = sorted(REASONS)
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **schema, "title": "sdrag audit event"}
