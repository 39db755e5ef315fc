"""
A wheel in an empty environment: the quick starts of the README, and commands.

    python benchmarks/tools/try_wheel.py dist/sdrag-0.1.0-py3-none-any.whl
    python benchmarks/tools/try_wheel.py WHEEL python3.11 python3.12 python3.13

For each Python named, a new environment is made outside the checkout, the wheel is
installed with the versions of `constraints.txt`, and what a reader of the README would
run is run in an empty folder. The seconds of each step are printed. A step that fails
ends the program with 1, after the steps of the other Pythons.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXTRAS = "chroma,cli,langchain,llamaindex,local"
NODES = "llama-index-vector-stores-chroma"
Step = tuple[str, list[str]]


def quick_starts(readme: str) -> tuple[str, list[str]]:
    """Return the first policy of a README, and its first program for each framework."""
    blocks = re.findall(r"```(\w+)\n(.*?)```", readme, re.DOTALL)
    policies = [code for language, code in blocks if language == "yaml"]
    programs = [code for language, code in blocks if language == "python"]
    return policies[0], programs[:2]


def steps(wheel: Path, folder: Path, readme: str) -> Iterator[Step]:
    """Yield what is run in a folder whose environment was made: a name, a command."""
    binaries = folder / "venv" / "bin"
    python = str(binaries / "python")
    pip = [python, "-m", "pip", "install", "--quiet"]
    pins = ["--constraint", str(ROOT / "constraints.txt")]
    yield "install the wheel", [*pip, *pins, f"{wheel}[{EXTRAS}]", NODES]
    policy, programs = quick_starts(readme)
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    for name, code in zip(("LangChain", "LlamaIndex"), programs, strict=True):
        yield f"quick start, {name}", [python, "-c", code]
    sdrag = str(binaries / "sdrag")
    yield "sdrag --version", [sdrag, "--version"]
    yield "sdrag init", [sdrag, "init", "mine"]
    yield "sdrag check", [sdrag, "check", "mine/policy.yaml"]
    for name in ("langchain", "llamaindex"):
        yield f"mine, {name}", [python, f"mine/with_{name}.py"]


def tried(python: str, wheel: Path, readme: str) -> bool:
    """Run every step with one Python; print each, and whether all went well."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(  # noqa: S603 -- our own command
            [python, "-m", "venv", str(folder / "venv")], check=True
        )
        for what, command in steps(wheel, folder, readme):
            began = time.perf_counter()
            ended = subprocess.run(  # noqa: S603 -- our own commands
                command,
                check=False,
                cwd=folder,
                env={**_environment(), "COLUMNS": "100"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            seconds = time.perf_counter() - began
            print(f"{python}: {what}: {seconds:.0f} s", flush=True)
            if ended.returncode:
                print(ended.stdout)
                return False
            if what.startswith(("quick", "sdrag --v")):
                print(ended.stdout.strip(), flush=True)
    return True


def _environment() -> dict[str, str]:
    """Leave out what would show the checkout to the new environment."""
    hidden = {"PYTHONPATH", "VIRTUAL_ENV"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**kept, "HF_HUB_OFFLINE": "1"}


def main() -> None:
    """Try a wheel with each Python."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=lambda path: Path(path).resolve(strict=True))
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    given = parser.parse_args()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    results = [tried(python, given.wheel, readme) for python in given.pythons]
    raise SystemExit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
