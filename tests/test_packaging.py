"""What is shipped, and under which names it can be imported."""

from __future__ import annotations

import ast
import re
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent


PACKAGES = {"sdrag": "shared/sdrag"} | {
    name: name for name in ("langchain_sdrag", "llamaindex_sdrag")
}
MOST_BYTES = 33_000_000
"""The wheel's size may grow by a little; 14.5 MB of it are the scorer's weights."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    (path,) = WheelBuilder(str(ROOT)).build(
        directory=str(folder), versions=["standard"]
    )
    return Path(path)


@pytest.fixture(scope="module")
def wheel(built: Path) -> list[str]:
    with zipfile.ZipFile(built) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("sdist")
    (path,) = SdistBuilder(str(ROOT)).build(
        directory=str(folder), versions=["standard"]
    )
    with tarfile.open(path) as archive:
        return {name.split("/", 1)[-1] for name in archive.getnames()}


def test_the_wheel_holds_three_packages_and_no_shared(wheel: list[str]) -> None:
    """`shared/sdrag` ships as `sdrag`; there is no top-level `shared`."""
    roots = {name.split("/")[0] for name in wheel}

    assert set(PACKAGES) == {root for root in roots if not root.endswith(".dist-info")}


@pytest.mark.parametrize("package", ["sdrag", "langchain_sdrag", "llamaindex_sdrag"])
def test_every_package_is_typed(wheel: list[str], package: str) -> None:
    """A type checker reads the annotations of what was installed."""
    assert f"{package}/py.typed" in wheel


def test_the_wheel_holds_all_data(wheel: list[str]) -> None:
    """Weights and word lists ship with what reads them."""
    data = {
        f"{package}/{path.relative_to(ROOT / folder).as_posix()}"
        for package, folder in PACKAGES.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    }

    assert data <= set(wheel)
    assert "sdrag/disclosure/local/scorer.safetensors" in data
    assert "sdrag/detectors/tagger.safetensors" in data


def test_the_wheel_holds_only_the_packages_and_notices(wheel: list[str]) -> None:
    """No test, benchmark or text for training; LICENSE and the notices of others."""
    outside = [name for name in wheel if name.split("/")[0] not in PACKAGES]
    licences = {name.rsplit("/", 1)[-1] for name in outside if "/licenses/" in name}

    assert all(".dist-info/" in name for name in outside)
    assert licences == {"LICENSE", "THIRD_PARTY_NOTICES.md"}
    assert not [name for name in wheel if "/test_" in name or "benchmark" in name]
    assert not [name for name in wheel if "passages/" in name or "/prompts/" in name]


def test_the_wheel_stays_small(
    built: Path, record_property: Callable[[str, object], None]
) -> None:
    """What it weighs is printed, and is held under a ceiling."""
    size = built.stat().st_size
    record_property("wheel_bytes", size)
    print(f"The wheel has {size:,} bytes.")  # noqa: T201 -- for `pytest -s`

    assert size < MOST_BYTES


def test_the_source_distribution_holds_what_it_names(sdist: set[str]) -> None:
    """It can be tested: code, tests, examples, docs and the two commands."""
    roots = {name.split("/")[0] for name in sdist}

    assert {"shared", "tests", "examples", "docs", "Makefile", "LICENSE"} <= roots
    assert {"THIRD_PARTY_NOTICES.md", "constraints-lowest.txt"} <= sdist
    assert ".venv" not in roots


def test_the_source_distribution_holds_no_training_texts(sdist: set[str]) -> None:
    """What the scorer learned from stays in the repository."""
    assert "benchmarks/scorer/train.py" in sdist
    assert not [name for name in sdist if name.startswith("benchmarks/scorer/passages")]


def test_the_version_is_written_once_and_repeated_rightly() -> None:
    """`pyproject.toml` has it; the program and the wrappers read it from there."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]

    assert cited == version
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_oldest_versions_are_those_of_the_extras() -> None:
    """`make test-lowest` tries what the metadata promises, and nothing newer."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = dict(
        line.lower().replace("_", "-").split("==")
        for line in (ROOT / "constraints-lowest.txt").read_text().splitlines()
        if "==" in line
    )
    extras = ("langchain", "llamaindex", "chroma", "cli", "linkage", "local")
    groups = [project["optional-dependencies"][extra] for extra in extras]
    bounds = [name for group in [project["dependencies"], *groups] for name in group]

    for bound in bounds:
        name, _, least = bound.partition(">=")
        pin = pins.get(name.lower().replace("_", "-"))
        if least and pin:
            oldest = Version(least.split(",")[0])
            assert Version(pin).release[:2] == (oldest.major, oldest.minor), bound


def test_torch_is_pinned_beside_the_metadata() -> None:
    """The wheel asks for no torch of its own; the constraints file pins it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    asked = [name for group in groups for name in group]

    assert not [name for name in asked if name.startswith("torch")]
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text().splitlines()


EXTRA = re.compile(
    r"""sdrag\[([a-z,]+)\]|require_extra\(\s*"(\w+)"|MissingExtraError\([^)]*"(\w+)"\)"""
)

INDIRECT = {"chromadb": "langchain-chroma", "tokenizers": "sentence-transformers"}
"""What comes with a package that an extra names."""


def _imported_under(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each module that is imported where an extra is required, and the extra."""
    for block in ast.walk(tree):
        if not isinstance(block, ast.With):
            continue
        required = EXTRA.match(
            ast.unparse(block.items[0].context_expr).replace("'", '"')
        )
        for node in ast.walk(block) if required and required[2] else ():
            if isinstance(node, ast.Import):
                yield from ((required[2], alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield required[2], node.module


def _brought_by(extra: str, extras: dict[str, list[str]]) -> Iterator[str]:
    """Yield the distributions that an extra names, through other extras too."""
    for requirement in map(Requirement, extras[extra]):
        yield requirement.name.lower()
        for other in requirement.extras if requirement.name == "sdrag" else ():
            yield from _brought_by(other, extras)


def test_a_missing_extra_is_one_that_brings_what_is_missing() -> None:
    """Each extra that an error or a page names, and each import that asks for one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras, owners = project["optional-dependencies"], packages_distributions()
    folders = [*PACKAGES.values(), "docs", "examples"]
    sources = [f for name in folders for f in (ROOT / name).rglob("*.[pmt][ydo]*")]
    compiled = {source for source in sources if source.suffix == ".pyc"}
    for source in {*sources, ROOT / "README.md"} - compiled:
        text = source.read_text(encoding="utf-8")
        named = {name for found in EXTRA.findall(text) for name in found if name}
        assert {each for name in named for each in name.split(",")} <= extras.keys()
        tree = ast.parse(text if source.suffix == ".py" else "")
        for extra, module in _imported_under(tree):
            top = module.partition(".")[0]
            known = owners.get(top, [f"{top}-learn"])
            held = {*known, INDIRECT.get(top)} & {*_brought_by(extra, extras)}
            assert held or top in PACKAGES, (source, top)
