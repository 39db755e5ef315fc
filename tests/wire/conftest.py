"""One server for each test."""

import pytest

from ..support import openai_server as server
from .clients import NAME


@pytest.fixture
def wire():
    with server.openai_server(NAME) as opened:
        yield opened
