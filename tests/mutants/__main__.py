"""
Mutate modules: `python -m tests.mutants [MODULE ...]`, such as `text/spans`.

It works in `.mutants/`, a copy of the package; results of functions that did not change
are kept there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection
from contextlib import chdir
from pathlib import Path

from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / ".mutants"
_MUTATED = _FOLDER / "mutants"
_MODULES = Path(__file__).with_name("modules.toml")
_SETTINGS = """
[tool.mutmut]
source_paths = ["src"]
only_mutate = ["src/sdrag/{module}.py"]
# What an error says is read by people.
do_not_mutate_patterns = ['raise \\w+\\(', 'hint=', '^ +(f?")[^:]*$']
pytest_add_cli_args = ["-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
pytest_add_cli_args_test_selection = {tests}
on_dependency_change = "ignore"
"""


def main() -> int:
    """Mutate the modules; return 1 where a mutant survived that is not equivalent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    asked = parser.parse_args()
    modules = tomllib.loads(_MODULES.read_text("utf-8"))
    _lay_out()
    print(f"{'module':28}{'mutants':>8}{'killed':>8}{'equivalent':>12}{'score':>7}")
    left = 0
    for module in asked.modules or modules:
        left += _mutate(module, **modules[module])
    return int(left > 0)


def _lay_out() -> None:
    """Copy the package, and let the tests see all else of the repository."""
    _MUTATED.mkdir(parents=True, exist_ok=True)
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(
        _ROOT / "shared", _FOLDER / "src", dirs_exist_ok=True, ignore=skipped
    )
    for path in _ROOT.iterdir():
        link = _MUTATED / path.name
        if path.name not in {"shared", "pyproject.toml"} and path.name[0] != ".":
            link.unlink(missing_ok=True)
            link.symlink_to(path)


def _mutate(module: str, tests: list[str], equivalent: Collection[str] = ()) -> int:
    """Print what becomes of the mutants of a module; return how many survive."""
    settings = _SETTINGS.format(
        module=module, tests=json.dumps([f"tests/{name}" for name in tests])
    )
    project = (_ROOT / "pyproject.toml").read_text("utf-8")
    (_FOLDER / "pyproject.toml").write_text(project + settings, "utf-8")
    mutated = _MUTATED / "src" / "sdrag" / f"{module}.py"
    mutated.unlink(missing_ok=True)  # written anew, whatever was mutated before
    done = _run_mutmut()
    (_FOLDER / "log").write_text(done.stdout + done.stderr, "utf-8")
    if done.returncode:
        print(f"{module:28}failed; see {_FOLDER / 'log'}")
        return 1
    meta = json.loads(Path(f"{mutated}.meta").read_text("utf-8"))
    statuses = {
        name: status_by_exit_code[code]
        for name, code in meta["exit_code_by_key"].items()
    }
    alive = {
        name: _describe(name, module)
        for name, status in statuses.items()
        if status not in {"killed", "timeout", "caught by type check"}
    }
    survivors = {n: said for n, said in alive.items() if said not in equivalent}
    counted = len(statuses) - len(alive) + len(survivors)
    killed = len(statuses) - len(alive)
    print(
        f"{module:28}{len(statuses):8}{killed:8}"
        f"{len(alive) - len(survivors):12}{killed / max(1, counted):7.2f}"
    )
    for name, said in survivors.items():
        print(f"  {statuses[name]} {name.rpartition('.')[2]}: {said}")
    sys.stdout.flush()
    return len(survivors)


def _describe(mutant: str, module: str) -> str:
    """Return the function, and the lines that say something else."""
    with chdir(_FOLDER):
        shown = get_diff_for_mutant(mutant, path=Path(f"src/sdrag/{module}.py"))
    function = re.sub("^x_?|__mutmut.*$", "", mutant.rpartition(".")[2])
    added = re.findall(r"^\+(?!\+\+)(.*)$", shown, re.MULTILINE)
    words = " ".join(" ".join(added).split())
    return f"{function.strip('ǁ').replace('ǁ', '.')}: {words}"


def _run_mutmut() -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)  # the package is the one that is mutated
    run = "from mutmut.__main__ import cli; cli()"
    return subprocess.run(
        [sys.executable, "-c", run, "run", "--max-children", "1"],
        cwd=_FOLDER,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
