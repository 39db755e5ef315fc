"""
Count what a reader of the packages has to learn.

    python benchmarks/tools/count.py          # the working tree
    python benchmarks/tools/count.py 50133ef  # a revision, from `git archive`

It prints files and lines by package, the arguments of every public name of both
adapters, the lines that are the same in both, the files that a new guard, detector or
framework touches, names that are given twice, and the size of the wheel.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ADAPTERS = ("langchain_sdrag", "llamaindex_sdrag")
GUARD, DETECTOR = "staleness", "gliner"
"""Each stands for its kind: the files that name it are those that a new one touches."""


def main() -> None:
    """Count the working tree, or the revision that was named."""
    if len(sys.argv) == 1:
        count(ROOT)
        return
    command = ["git", "archive", "--format=tar", sys.argv[1]]
    archive = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout  # noqa: S603 -- a revision of this repository
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        count(Path(folder))


def count(root: Path) -> None:
    """Print all counts of a tree."""
    print_packages(root)
    print_arguments(root)
    print_repeated_lines(root)
    print_touched(root)
    print_doubles(root)
    print_wheel(root)


def modules(folder: Path) -> list[Path]:
    """Return the modules below a folder, in order."""
    return sorted(folder.rglob("*.py"))


def lines_of(paths: Iterable[Path]) -> int:
    """Count the lines of files, blank ones and docstrings too."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def print_packages(root: Path) -> None:
    """Print files and lines of each package, and of each package of the core."""
    core = root / "shared" / "sdrag"
    inner = sorted(path for path in core.iterdir() if any(path.glob("*.py")))
    shown = {
        **{f"sdrag.{path.name}": modules(path) for path in inner},
        "sdrag, its own modules": sorted(core.glob("*.py")),
        "sdrag": modules(core),
        **{name: modules(root / name) for name in (*ADAPTERS, "tests", "benchmarks")},
    }
    print(f"{'package':32}{'files':>7}{'lines':>8}")
    for name, paths in shown.items():
        print(f"{name:32}{len(paths):7}{lines_of(paths):8}")


def print_arguments(root: Path) -> None:
    """Print how many arguments each public name of the two adapters takes."""
    where = os.pathsep.join(map(str, (root / "shared", root)))
    command = [sys.executable, str(Path(__file__)), "--arguments"]
    told = subprocess.run(  # noqa: S603 -- this very script
        command,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": where},
        cwd=root,
    ).stdout
    found: dict[str, dict[str, int]] = json.loads(told.splitlines()[-1])
    print("\narguments of public names: LangChain, LlamaIndex")
    first, second = (found[name] for name in ADAPTERS)
    for name in sorted({*first, *second}):
        print(f"{name:32}{first.get(name, '-'):>7}{second.get(name, '-'):>8}")
    print(f"{'all':32}{sum(first.values()):7}{sum(second.values()):8}")


def arguments() -> dict[str, dict[str, int]]:
    """Count the arguments of what the adapters export, as they are imported here."""
    packages = {name: importlib.import_module(name) for name in ADAPTERS}
    return {
        name: {
            public: len(list(arguments_of(getattr(package, public))))
            for public in package.__all__
        }
        for name, package in packages.items()
    }


def arguments_of(public: Any) -> Iterator[str]:
    """Yield the names of arguments; those of `Unpack[TypedDict]` one by one."""
    signature = inspect.signature(
        public.__init__ if inspect.isclass(public) else public
    )
    for name, argument in signature.parameters.items():
        listed = re.findall(r"Unpack\[(?:\w+\.)*(\w+)\]", str(argument.annotation))
        if argument.kind is argument.VAR_KEYWORD and listed:
            module = importlib.import_module(public.__module__)
            yield from getattr(module, listed[0]).__annotations__
        elif name != "self":
            yield name


def print_repeated_lines(root: Path) -> None:
    """Print how many lines both adapters have in files of one name."""
    first, second = (root / name for name in ADAPTERS)
    same = whole = 0
    for path in modules(first):
        twin = second / path.relative_to(first)
        if not twin.exists():
            continue
        ours, theirs = written(path), written(twin)
        matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
        same += sum(block.size for block in matcher.get_matching_blocks())
        whole += len(ours)
    print(f"\nlines that are the same in both adapters: {same} of {whole}")


def written(path: Path) -> list[str]:
    """Return the lines of a file that are not blank."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip()]


def print_touched(root: Path) -> None:
    """Print which files of the packages name a guard, and a detector."""
    for kind, name in (("guard", GUARD), ("detector", DETECTOR)):
        paths = [
            path
            for folder in ("shared/sdrag", *ADAPTERS)
            for path in modules(root / folder)
            if name in path.read_text(encoding="utf-8").lower()
        ]
        print(f"\na new {kind} like {name} touches {len(paths)} files:")
        print(*(f"  {path.relative_to(root)}" for path in paths), sep="\n")
    adapter = modules(root / ADAPTERS[0])
    print(f"\na new framework: {len(adapter)} files, {lines_of(adapter)} lines")


def print_doubles(root: Path) -> None:
    """Print names of modules and classes that are given twice, the twins left out."""
    paths = [*modules(root / "shared" / "sdrag"), *modules(root / ADAPTERS[0])]
    names = Counter(path.name for path in paths if path.name != "__init__.py")
    classes = Counter(
        node.name
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    for kind, counted in (("file names", names), ("class names", classes)):
        twice = sorted(name for name, times in counted.items() if times > 1)
        print(f"\n{len(twice)} {kind} given twice: {', '.join(twice)}")


def print_wheel(root: Path) -> None:
    """Build the wheel, and print its size."""
    from hatchling.builders.wheel import WheelBuilder  # noqa: PLC0415 -- a tool of tests

    with tempfile.TemporaryDirectory() as folder:
        (built,) = WheelBuilder(str(root)).build(
            directory=folder, versions=["standard"]
        )
        print(f"\nsize of the wheel: {Path(built).stat().st_size:,} bytes")


if __name__ == "__main__":
    if sys.argv[1:] == ["--arguments"]:
        print(json.dumps(arguments()))
    else:
        main()
