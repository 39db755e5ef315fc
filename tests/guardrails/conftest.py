"""The world of the guards: handlers that answer effects, and host applications."""

from __future__ import annotations

import zlib

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


@pytest.fixture
def client(tmp_path):
    """A Chroma client over a folder."""
    import chromadb  # noqa: PLC0415 -- most tests of guards need no store
    from chromadb.config import Settings  # noqa: PLC0415 -- as above

    settings = Settings(anonymized_telemetry=False)
    return chromadb.PersistentClient(str(tmp_path / "chroma"), settings=settings)


@pytest.fixture(params=["langchain", "llamaindex"])
def host(request, client):
    """A host application of one framework over one store, given its documents."""
    from .hosts import HOSTS  # noqa: PLC0415 -- as above

    name = f"c{zlib.crc32(request.node.nodeid.encode())}"
    return lambda corpus: HOSTS[request.param](client, name, corpus)
