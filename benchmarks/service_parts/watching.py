"""What goes on meanwhile: the policy is swapped, and memory and health are seen."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from benchmarks.service_parts.clients import Load
from benchmarks.service_parts.processes import resident

__all__ = ["probing", "swapping", "watching"]

_PROBE = Path(__file__).with_name("probe.py")


async def swapping(load: Load, every: float) -> None:
    """Put the other policy in force, every so many seconds."""
    while True:
        await asyncio.sleep(every)
        load.swap()


async def watching(load: Load, process: psutil.Process) -> None:
    """Note the memory of all processes of the service."""
    while True:
        load.record.memory.append((load.elapsed / 60, resident(process)))
        await asyncio.sleep(1)


@contextmanager
def probing(load: Load, file: Path) -> Iterator[None]:
    """Let a process of its own ask for the health; the clients would delay it."""
    with file.open("wb") as output:
        command = [sys.executable, str(_PROBE), load.url]
        probe = subprocess.Popen(command, stdout=output)  # noqa: S603 -- our own file
    try:
        yield
    finally:
        probe.terminate()
        probe.wait()
        lines = file.read_text(encoding="utf-8").splitlines()
        load.record.probes.extend(float(line) for line in lines)
