"""What is shipped, and under which names it can be imported."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parent.parent


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT)).build(
        directory=str(folder), versions=["standard"]
    )
    with zipfile.ZipFile(built) as archive:
        return archive.namelist()


def test_the_wheel_holds_three_packages_and_no_shared(wheel: list[str]) -> None:
    """`shared/sdrag` ships as `sdrag`; there is no top-level `shared`."""
    roots = {name.split("/")[0] for name in wheel}

    assert {"sdrag", "langchain_sdrag", "llamaindex_sdrag"} == {
        root for root in roots if not root.endswith(".dist-info")
    }


@pytest.mark.parametrize("package", ["sdrag", "langchain_sdrag", "llamaindex_sdrag"])
def test_every_package_is_typed(wheel: list[str], package: str) -> None:
    """A type checker reads the annotations of what was installed."""
    assert f"{package}/py.typed" in wheel


def test_the_wheel_holds_the_data_it_needs(wheel: list[str]) -> None:
    """The demo's articles are shipped with the code that reads them."""
    articles = [name for name in wheel if "evaluation/articles/" in name]

    assert sum(name.endswith(".json") for name in articles) == 20


def test_the_source_distribution_holds_what_it_names(tmp_path: Path) -> None:
    """It can be tested as it is: code, tests, examples, docs and the two commands."""
    (built,) = SdistBuilder(str(ROOT)).build(
        directory=str(tmp_path), versions=["standard"]
    )
    with tarfile.open(built) as archive:
        names = {name.split("/", 1)[-1].split("/")[0] for name in archive.getnames()}

    assert {"shared", "tests", "examples", "docs", "Makefile", "LICENSE"} <= names
    assert ".venv" not in names


def test_the_package_has_one_name() -> None:
    """From the repository's root, `shared.sdrag` cannot be imported."""
    assert run("import sdrag").returncode == 0

    outcome = run("import shared.sdrag")
    assert outcome.returncode != 0
    assert "Import `sdrag`" in outcome.stderr


def test_torch_is_pinned_beside_the_metadata() -> None:
    """The wheel asks for no torch of its own; the constraints file pins it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    asked = [name for group in groups for name in group]

    assert not [name for name in asked if name.startswith("torch")]
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text().splitlines()
