"""The processes of the load: started on loopback, watched, and ended."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        port: int = tried.getsockname()[1]
        return port


@contextmanager
def serving(
    app: str, probe: str, log: Path, *options: str, **settings: str
) -> Iterator[tuple[str, psutil.Process]]:
    """
    Run an application under uvicorn, and wait until it answers.

    Args:
        app: As uvicorn takes it.
        probe: A path that answers once it is ready.
        log: Where its output goes.
        options: Of uvicorn.
        settings: Added to the environment.
    """
    port = free_port()
    places = [ROOT, ROOT / "shared", ROOT / "examples" / "service"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places))}
    command = [sys.executable, "-m", "uvicorn", app, "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 -- our own interpreter
            [*command, "--no-access-log", *options],
            env=environment | settings,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # an interrupt ends the load first
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(process, url + probe)
        yield url, psutil.Process(process.pid)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    for _ in range(1200):
        if process.poll() is not None:
            raise SystemExit("A process of the load ended before it answered.")
        with suppress(httpx.TransportError):
            httpx.get(url, timeout=5)
            return
        time.sleep(0.1)
    raise SystemExit("A process of the load did not answer within two minutes.")


def resident(process: psutil.Process) -> float:
    """Return the resident memory of a process and of its children, in MB."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            total += one.memory_info().rss
    return total / 1e6
