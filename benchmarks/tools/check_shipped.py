"""
What is shipped: the wheel, the source distribution, notices, hashes and extras.

    python benchmarks/tools/check_shipped.py [--write]

`--write` writes the hashes of the networks' files and checks nothing. Both
distributions are built into a folder that goes again. Each thing that is wrong is
printed, and ends the program with 1.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import yaml
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PACKAGES = {"sdrag": "shared/sdrag"} | {
    name: name for name in ("langchain_sdrag", "llamaindex_sdrag")
}
MOST_BYTES = 45_000_000
"""Of the wheel; the packaged networks are 39 MB of it."""
INDIRECT = {"chromadb": "langchain-chroma"}
"""What comes with a package that an extra names."""
EXTRA = re.compile(
    r"""sdrag\[([a-z,]+)\]|require_extra\(\s*"(\w+)"|MissingExtraError\([^)]*"(\w+)"\)"""
)

SUMS = ROOT / "shared/sdrag/SHA256SUMS"
NETWORK = re.compile(r"\.(?:npz|onnx|safetensors)$|/(?:head|tokenizer)\.json$")


def data_files() -> set[Path]:
    """Return the files of the packages that are no Python, such as weights."""
    return {
        path
        for folder in PACKAGES.values()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    }


def of_the_wheel() -> Iterator[str]:
    """Say what the wheel lacks, and what it should not hold."""
    with tempfile.TemporaryDirectory() as folder:
        (built,) = WheelBuilder(str(ROOT)).build(
            directory=folder, versions=["standard"]
        )
        size = Path(built).stat().st_size
        with zipfile.ZipFile(built) as archive:
            names = set(archive.namelist())
    print(f"The wheel has {size:,} bytes.")
    if size > MOST_BYTES:
        yield f"the wheel has more than {MOST_BYTES:,} bytes"
    needed = {
        f"{package}/{path.relative_to(ROOT / folder).as_posix()}"
        for package, folder in PACKAGES.items()
        for path in data_files()
        if path.is_relative_to(ROOT / folder)
    }
    needed |= {f"{package}/py.typed" for package in PACKAGES}
    yield from (f"the wheel lacks {name}" for name in needed - names)
    outside = {name for name in names if name.split("/")[0] not in PACKAGES}
    strays = [name for name in outside if ".dist-info/" not in name]
    strays += [n for n in names if re.search("/test_|benchmark|passages/|/prompts/", n)]
    yield from (f"the wheel holds {name}" for name in strays)
    licences = {n.rsplit("/", 1)[-1] for n in outside if "/licenses/" in n}
    if licences != {"LICENSE", "THIRD_PARTY_NOTICES.md"}:
        yield f"the wheel has the licences {licences}"


def of_the_source() -> Iterator[str]:
    """Say what the source distribution lacks: with it, everything can be tested."""
    with tempfile.TemporaryDirectory() as folder:
        (built,) = SdistBuilder(str(ROOT)).build(
            directory=folder, versions=["standard"]
        )
        with tarfile.open(built) as archive:
            names = {name.split("/", 1)[-1] for name in archive.getnames()}
    roots = {name.split("/")[0] for name in names}
    needed = {"shared", "tests", "examples", "docs", "Makefile", "LICENSE"} - roots
    files = {"THIRD_PARTY_NOTICES.md", "constraints-lowest.txt"}
    files |= {"benchmarks/scorer/train.py"}
    yield from (f"the sdist lacks {name}" for name in needed | (files - names))
    texts = [n for n in names if n.startswith("benchmarks/scorer/passages")]
    yield from (f"the sdist holds {name}" for name in [*texts, *({".venv"} & roots)])


def of_the_notices() -> Iterator[str]:
    """Say which data nobody can place, and which places are gone."""
    notices = (ROOT / "THIRD_PARTY_NOTICES.md").read_text("utf-8")
    patterns = re.findall(r"^\| `([^`]+)` \|", notices, re.MULTILINE)
    listed = {path for pattern in patterns for path in ROOT.glob(pattern)}
    shipped = {
        path for path in data_files() if path.name not in {"py.typed", SUMS.name}
    }
    yield from (f"no notice lists {path}" for path in shipped - listed)
    gone = [pattern for pattern in patterns if not any(ROOT.glob(pattern))]
    yield from (f"a notice lists {pattern}, which is gone" for pattern in gone)


def hash_networks() -> str:
    """Return what `sha256sum` prints of the networks' files."""
    paths = sorted(path for path in data_files() if NETWORK.search(path.as_posix()))
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}"
        f"  {path.relative_to(SUMS.parent).as_posix()}\n"
        for path in paths
    )


def of_the_hashes() -> Iterator[str]:
    """Say whether a network's file has another hash than its loader expects."""
    if SUMS.read_text("ascii") != hash_networks():
        yield f"{SUMS.name} is not up to date: run this program with --write"


def of_the_versions() -> Iterator[str]:
    """Say where another version stands than in `pyproject.toml`, and wrong pins."""
    version = PROJECT["version"]
    if yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] != version:
        yield "CITATION.cff has another version"
    if f"\n## {version}" not in (ROOT / "CHANGELOG.md").read_text("utf-8"):
        yield "CHANGELOG.md lacks the version"
    pins = dict(
        line.lower().replace("_", "-").split("==")
        for line in (ROOT / "constraints-lowest.txt").read_text("utf-8").splitlines()
        if "==" in line
    )
    tried = ("langchain", "llamaindex", "chroma", "cli", "linkage", "local")
    for group in [PROJECT["dependencies"], *(EXTRAS[extra] for extra in tried)]:
        for bound in group:
            name, _, least = bound.partition(">=")
            pin = pins.get(name.lower().replace("_", "-"))
            if not (least and pin):
                continue
            oldest = Version(least.split(",")[0])
            if Version(pin).release[:2] != (oldest.major, oldest.minor):
                yield f"constraints-lowest.txt does not pin the oldest of {bound}"
    groups = [PROJECT["dependencies"], *EXTRAS.values()]
    if any(name.startswith("torch") for group in groups for name in group):
        yield "the metadata asks for a torch of its own"
    pinned = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    if not [line for line in pinned if line.startswith("torch==")]:
        yield "constraints.txt pins no torch"


def of_the_extras() -> Iterator[str]:
    """Say where an error or a page names an extra that does not bring what it says."""
    for name, extra in EXTRAS.items():
        if name in {"sentence-transformers", "training"}:
            continue
        if any("sentence-trans" in each for each in extra):
            yield f"the extra {name} brings torch"
    owners = packages_distributions()
    folders = [*PACKAGES.values(), "docs", "examples"]
    sources = {ROOT / "README.md"}
    for kind in ("*.py", "*.md", "*.toml"):
        sources |= {path for name in folders for path in (ROOT / name).rglob(kind)}
    for source in sources:
        text = source.read_text("utf-8")
        named = {name for found in EXTRA.findall(text) for name in found if name}
        unknown = {each for name in named for each in name.split(",")} - EXTRAS.keys()
        yield from (f"{source} names the extra {name}" for name in unknown)
        tree = ast.parse(text if source.suffix == ".py" else "")
        for extra, module in _imported_under(tree):
            top = module.partition(".")[0]
            known = owners.get(top, [f"{top}-learn"])
            brought = {*known, INDIRECT.get(top)} & {*_brought_by(extra)}
            if not brought and top not in PACKAGES:
                yield f"{source}: the extra {extra} does not bring {top}"


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


def _brought_by(extra: str) -> Iterator[str]:
    """Yield the distributions that an extra names, through other extras too."""
    for requirement in map(Requirement, EXTRAS[extra]):
        yield requirement.name.lower()
        for other in requirement.extras if requirement.name == "sdrag" else ():
            yield from _brought_by(other)


def main() -> None:
    """Print what is wrong, or write the hashes."""
    if "--write" in sys.argv[1:]:
        SUMS.write_text(hash_networks(), "ascii")
        return
    looks = (of_the_wheel, of_the_source, of_the_notices, of_the_hashes)
    wrong = [n for look in (*looks, of_the_versions, of_the_extras) for n in look()]
    print("\n".join(wrong))
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
