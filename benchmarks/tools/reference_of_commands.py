"""The reference of the command line, made from the Typer app."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer

from sdrag.cli.app import app

__all__ = ["command_page", "commands"]

_EXAMPLE = re.compile(r"^Example: (.+)$", re.MULTILINE)

_HEAD = """\
# Command reference

Every command, argument and option. The command `sdrag` comes with the extra `cli`.
`python benchmarks/tools/reference.py` makes this page from the code.

A command ends with 0 when all is well, with 1 when it found something wrong, and with 2
for a wrong call or file. `--help` after any command shows the same as this page.
"""


def commands() -> Iterator[tuple[str, Any]]:
    """Yield each command with the words that call it, groups before what is in them."""
    yield from _below("sdrag", typer.main.get_command(app))


def command_page() -> str:
    """Return the page `docs/reference/commands.md`."""
    return "\n".join([_HEAD, *(_text(name, found) for name, found in commands())])


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for inner, found in sorted(getattr(command, "commands", {}).items()):
        yield from _below(f"{name} {inner}", found)


def _text(name: str, command: Any) -> str:
    context = typer.Context(command, info_name=name)
    usage = command.get_usage(context).removeprefix("Usage: ")
    lines = [f"## `{name}`", "", _described(command.help), ""]
    lines += ["```text", " ".join(usage.split()), "```", ""]
    for title, flags in (("argument", False), ("option", True)):
        rows = [
            _row(item, context)
            for item in command.params
            if item.opts[0].startswith("-") is flags and not item.hidden
        ]
        if rows:
            lines += [f"| {title} | meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _described(text: str) -> str:
    """Set the examples of a docstring as code."""
    return _EXAMPLE.sub(r"For example:\n\n```\n\1\n```", inspect.cleandoc(text))


def _row(item: Any, context: Any) -> str:
    written, meaning = item.get_help_record(context)
    shown = written.replace("|", "\\|")
    return f"| `{shown}` | {' '.join(meaning.split()).replace('|', chr(92) + '|')} |"
