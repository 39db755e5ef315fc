"""One Ray for all tests of this folder that need it in their own process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sdrag.parallel import RayPool


@pytest.fixture(scope="session")
def ray_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayPool]:
    pytest.importorskip("ray")
    spill = tmp_path_factory.mktemp("spill")
    with RayPool(workers=2, spill=spill, memory=200 * 2**20) as pool:
        yield pool
