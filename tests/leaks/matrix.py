"""
The matrix: every class, in every mode, against every surface; and agents' channels.

A row is a class. It joins the modes, since a surface that differed from mode to mode
would be a defect.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import langchain_subjects, llamaindex_subjects
from .canaries import IDENTITY, POLICY, leaked
from .langchain_channels import LANGCHAIN_CHANNELS
from .llamaindex_channels import LLAMAINDEX_CHANNELS
from .subject import THREAD_ROWS, TOOL_ROWS, Subject
from .surfaces import audited, inspected, watching_langchain, watching_llamaindex

TITLES = {"langchain": "LangChain", "llamaindex": "LlamaIndex"}
SUBJECTS: tuple[Subject, ...] = (
    *langchain_subjects.SUBJECTS,
    *llamaindex_subjects.SUBJECTS,
)
"""Every public class, used as its host uses it, in every mode its framework has."""
CHANNELS = (*LANGCHAIN_CHANNELS, *LLAMAINDEX_CHANNELS)
CHANNEL_TABLES = {
    "What a guarded tool writes": TOOL_ROWS,
    "What principals who share a thread see": THREAD_ROWS,
}
SEALED, HOST_FIRST, ABSENT = "sealed", "the framework emits first", "–"
TRACED = "the framework traces what is returned"
AUDITED = "audit events, their spans and metrics"
LOGGED = "logs and warnings"
"""Sealed by the filter that an application puts on its log handlers."""


def observe(
    subject: Subject, mode: str, folder: Path, *, filtered: bool = True
) -> dict[str, list[Any]]:
    """Use a class in a mode with every surface open; return what was seen where."""
    audited()  # of what was built before
    if subject.framework == "langchain":
        with watching_langchain(folder, filtered=filtered) as (handler, seen):
            built = subject.build(folder)
            config = {"callbacks": [handler]}
            released = settled(subject.modes[mode](built, config))
    else:
        with watching_llamaindex(folder, filtered=filtered) as seen:
            built = subject.build(folder)
            released = settled(subject.modes[mode](built, {}))
    if subject.releases:
        name = "`astream_events`" if mode == "astream_events" else "what is released"
        seen[name] = [released]
    return seen | inspected(subject.wrapper(built)) | {AUDITED: audited()}


def settled(value: Any) -> Any:
    """Return a value, awaited where it has to be."""
    if inspect.isawaitable(value):

        async def waiting() -> Any:
            return await value

        return asyncio.run(waiting())
    return value


def found(
    subject: Subject, mode: str, folder: Path, *, filtered: bool = True
) -> dict[str, set[str]]:
    """Return the canaries that were seen, by surface."""
    seen = observe(subject, mode, folder, filtered=filtered)
    names = {surface: leaked(values) for surface, values in seen.items()}
    names["files"] -= {IDENTITY}  # the state finds bindings by the host's own ids
    for surface in subject.carries_policy:
        names[surface] -= {POLICY}
    if not subject.releases:  # at ingest, the host's store gets the host's own ids
        names = {surface: held - {IDENTITY} for surface, held in names.items()}
    return names


def surfaces_of(subject: Subject) -> list[str]:
    """Return every surface that some mode of a class has."""
    common = {
        "langchain": (
            "callbacks",
            "`astream_events`",
            "LangSmith tracer",
            "`collect_runs`",
            "`set_debug` output",
            "global LLM cache",
        ),
        "llamaindex": ("events", "spans", "callback handlers", "output"),
    }[subject.framework]
    looked_at = ("files", "`repr` and `str`", "dumps", "pickles")
    shared = (LOGGED, AUDITED, *looked_at)
    return ["what is released", *common, *shared]


def cell(subject: Subject, surface: str) -> str:
    """Say what the tests prove of one surface of a class."""
    if surface in subject.host_first:
        return HOST_FIRST
    if surface in subject.traced:
        return TRACED
    if surface in subject.carries_policy:
        return "the policy, to workers"
    if surface == "`astream_events`" and "astream_events" not in subject.modes:
        return ABSENT
    if surface == "what is released" and not subject.releases:
        return subject.goes
    return SEALED


def written(subjects: Iterable[Subject] = SUBJECTS) -> str:
    """Write the tables of the documentation: of the surfaces, those not sealed."""
    listed, parts = list(subjects), []
    for framework, title in TITLES.items():
        own = [subject for subject in listed if subject.framework == framework]
        rows = _grouped((f"`{s.name}`", _not_sealed(s)) for s in own)
        surfaces = ", ".join(surfaces_of(own[0]))
        modes = ", ".join(dict.fromkeys(mode for s in own for mode in s.modes))
        parts += [f"### {title}", "", f"Surfaces: {surfaces}. Modes: {modes}.", ""]
        parts += [_table(["classes", "not sealed"], rows), ""]
    for title, rows in CHANNEL_TABLES.items():
        parts += [f"### {title}", "", _channel_table(rows), ""]
    return "\n".join(parts).rstrip() + "\n"


def _not_sealed(subject: Subject) -> str:
    """Name the surfaces of a class that are not sealed, by the reason."""
    reasons: dict[str, list[str]] = {}
    for surface in surfaces_of(subject):
        reasons.setdefault(cell(subject, surface), []).append(surface)
    named = [
        f"{', '.join(surfaces)}: {reason}"
        for reason, surfaces in reasons.items()
        if reason not in {SEALED, ABSENT}
    ]
    return "; ".join(named) or "nothing"


def _channel_table(names: Iterable[str]) -> str:
    """Write what each framework's channels are, and why an open one is open."""
    rows = ((name, *(_channel_cell(name, own) for own in TITLES)) for name in names)
    return _table(["way out", *TITLES.values()], _grouped(rows))


def _channel_cell(name: str, framework: str) -> str:
    said = {
        f"open: {channel.open_since}" if channel.open_since else SEALED
        for channel in CHANNELS
        if (channel.framework, channel.name) == (framework, name)
    }
    return "; ".join(sorted(said)) or ABSENT


def _grouped(rows: Iterable[tuple[str, ...]]) -> list[list[str]]:
    """Give the names of rows that say the same one row."""
    names: dict[tuple[str, ...], list[str]] = {}
    for name, *cells in rows:
        names.setdefault(tuple(cells), []).append(name)
    return [["; ".join(each), *cells] for cells, each in names.items()]


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
