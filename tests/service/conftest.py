"""The example's service, run by uvicorn on loopback."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import httpx
import pytest
import uvicorn

from ..support.waiting import eventually

sys.path.append(str(Path(__file__).parents[2] / "examples" / "service"))

from rag_service.identity import sign
from rag_service.service import create_app
from rag_service.settings import Settings

KEY = "a key of the tests, and of nothing else"


@contextmanager
def running(opened, **settings):
    """Serve what answers; yield a client that no proxy and no retry stands before."""
    app = create_app(opened, Settings(key=KEY, **settings))
    config = uvicorn.Config(app, port=0, log_level="warning", lifespan="on")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        assert eventually(lambda: server.started or not thread.is_alive(), 60)
        assert server.started
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(60)


@pytest.fixture
def serve():
    return running


@pytest.fixture
def bearer():
    """Headers of a user, signed unless a claim says otherwise."""

    def made(user="clerk-7", tenant="harbour", roles=(), seconds=60, key=KEY):
        return {"authorization": f"Bearer {sign(key, user, tenant, roles, seconds)}"}

    return made
