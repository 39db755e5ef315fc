"""One Ray for all tests of this folder that need it in their own process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sdrag.distributed import RayOptions, ray_session


@pytest.fixture(scope="session")
def ray_package() -> None:
    pytest.importorskip("ray")


@pytest.fixture(scope="session")
def ray_here(
    ray_package: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    spill = tmp_path_factory.mktemp("spill")
    with ray_session(RayOptions(workers=2, spill=spill, memory=200 * 2**20)):
        yield
