"""The world of the guards: handlers that answer effects, and host applications."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from sdrag.effects.steps import Failure, Reply, run
from sdrag.errors import HostError


class World:
    """A runner whose answers are functions; a missing one fails the effect."""

    def __init__(self, **handlers):
        self.handlers = handlers
        self.effects = []

    def perform(self, effect):
        self.effects.append(effect)
        name = type(effect).__name__.lower()
        if name not in self.handlers:
            raise HostError(f"nobody answers {name}")
        answers = [self.handlers[name](effect, item) for item in effect.items]
        return [one if isinstance(one, Failure) else Reply(one) for one in answers]


@pytest.fixture
def ask():
    """Drive steps against a world made of handlers by effect name."""

    def drive(steps, **handlers):
        return run(steps, World(**handlers))

    return drive


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """Start a Chroma server on loopback; nothing outside the machine is asked."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = Path(sys.executable).parent / "chroma"
    folder = tmp_path_factory.mktemp("chroma-server")
    process = subprocess.Popen(
        [command, "run", "--path", folder, "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield _connected(port)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _connected(port):
    import chromadb  # noqa: PLC0415 -- most tests of guards need no store

    deadline = time.monotonic() + 300
    while True:
        try:
            return chromadb.HttpClient("127.0.0.1", port, settings=_quiet())
        except ValueError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _quiet():
    from chromadb.config import Settings  # noqa: PLC0415 -- as above

    return Settings(anonymized_telemetry=False)


@pytest.fixture(params=["disk", "server"])
def client(request, tmp_path):
    """A Chroma client of one kind."""
    if request.param == "server":
        return request.getfixturevalue("server")
    import chromadb  # noqa: PLC0415 -- as above

    return chromadb.PersistentClient(str(tmp_path / "chroma"), settings=_quiet())


@pytest.fixture(params=["langchain", "llamaindex"])
def host(request, client):
    """A host application of one framework over one store, given its documents."""
    from .hosts import HOSTS  # noqa: PLC0415 -- as above

    name = f"c{zlib.crc32(request.node.nodeid.encode())}"
    return lambda corpus: HOSTS[request.param](client, name, corpus)
