"""A state in each place where one may lie."""

from __future__ import annotations

import pytest

from sdrag.state import open_state


@pytest.fixture(params=["file", "postgres"])
def state(request, tmp_path):
    if request.param == "postgres":
        return open_state(request.getfixturevalue("postgres_url"))
    return open_state(tmp_path / "state.db")
