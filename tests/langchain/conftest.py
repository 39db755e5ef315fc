"""Hosts that the tests of this folder share."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document

from ..support.witness import TEXT
from .fixed import Fixed


@pytest.fixture
def host():
    return Fixed(documents=[Document(id="d", page_content=TEXT)], calls=[])
