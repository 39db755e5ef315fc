"""The whole suite runs offline: only loopback sockets open, and nothing is fetched."""

from __future__ import annotations

import gc
import importlib.util
import logging
import os
import socket
from uuid import uuid4

import pytest
import pytest_randomly
from hypothesis import HealthCheck, Phase, settings

from sdrag import RawTextFilter

from .support.postgres_server import missing, postgres_server
from .support.waiting import let_go

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["ANONYMIZED_TELEMETRY"] = "False"
for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_API_KEY"):
    os.environ.pop(name, None)

# The seed of thinc is set by torch, which takes longer than most tests.
pytest_randomly.entrypoint_reseeds = []
# How long an example takes is measured in benchmarks, and never asserted in a test.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("some", untimed, max_examples=40)
settings.register_profile("many", untimed, max_examples=400)
# Of a mutant it is asked whether it is noticed, and not by how small an example.
settings.register_profile(
    "mutants",
    untimed,
    database=None,
    derandomize=True,
    max_examples=25,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("some")

_LOOPBACK = {None, "", "localhost", "127.0.0.1", "::1"}
_FRAMEWORKS = {
    "langchain": ("langchain_core",),
    "llamaindex": ("llama_index",),
    "contract": ("langchain_core", "llama_index"),
    "leaks": ("langchain", "llama_index"),
    "langchain/test_agent_threads.py": ("langchain",),
    "test_examples.py": ("langchain_chroma", "llama_index.vector_stores.chroma"),
    "test_migration.py": ("langchain", "llama_index"),
    "service": ("chromadb", "fastapi", "jwt", "langchain_chroma", "langchain_openai"),
    "studio/workbench": ("httpx", "starlette", "uvicorn"),
    "wire": ("langchain_openai", "llama_index.llms.openai_like"),
}


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


collect_ignore = [
    folder
    for folder, modules in _FRAMEWORKS.items()
    if not all(map(_is_installed, modules))
]


def pytest_collection_finish():
    """What was imported stays: it is not searched again for what can be freed."""
    gc.collect()
    gc.freeze()


class NetworkRefusedError(RuntimeError):
    """A test tried to leave the machine."""


@pytest.fixture(autouse=True, scope="session")
def _no_names_are_resolved():
    """Looking up a host is already leaving; pytest-socket refuses what comes after."""
    original = socket.getaddrinfo

    def getaddrinfo(host, *args, **kwargs):
        if host not in _LOOPBACK:
            raise NetworkRefusedError("Tests open no sockets but to this machine.")
        return original(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


@pytest.fixture(autouse=True, scope="session")
def _logs_are_filtered():
    """The suite is an application that has the filter, and is not warned."""
    handler = logging.NullHandler()
    handler.addFilter(RawTextFilter())
    logging.getLogger().addHandler(handler)


@pytest.fixture(scope="session")
def postgres():
    """A server of the tests' own, started when the first test asks for it."""
    if reason := missing():
        pytest.skip(reason)
    with postgres_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres, tmp_path):
    """The URL of a new state, with its key in the test's folder."""
    return postgres.url(f"s{uuid4().hex}", tmp_path / "state.key")


@pytest.fixture(autouse=True)
def _nothing_hangs_on():
    """What hangs for one test ends with it: all tests share a count."""
    yield
    let_go()
