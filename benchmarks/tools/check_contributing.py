"""
The worked example of CONTRIBUTING.md works, on a copy of the package.

    python benchmarks/tools/check_contributing.py

Its three files are written, its test is run, and its policy is checked by the command.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
STEP = re.compile(r"<!-- (file|before): (.*?) -->\n```\w+\n(.*?)```\n", re.DOTALL)
COMMAND = "from sdrag.studio.cli import main; main()"
TABLE = Path("shared/sdrag/policy/guards.py")


def write(folder: Path) -> set[Path]:
    """Write what the example says, over a copy; return the files that it touches."""
    for path in (ROOT / "shared").rglob("*"):
        copied = folder / path.relative_to(ROOT)
        if path.is_dir():
            copied.mkdir(parents=True, exist_ok=True)
        elif path != ROOT / TABLE:
            copied.symlink_to(path)
    table, touched = (ROOT / TABLE).read_text("utf-8"), {TABLE}
    for kind, place, code in STEP.findall(
        (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    ):
        if kind == "file":
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(code, "utf-8")
            touched.add(Path(place))
            continue
        mark = place.replace("\\n", "\n")
        if table.count(mark) != 1:
            raise SystemExit(f"{TABLE} has not one place before {mark!r}.")
        table = table.replace(mark, code + mark)
    (folder / TABLE).write_text(table, "utf-8")
    (folder / "policy.yaml").write_text("quarantine: {}\n", "utf-8")
    return touched


def run(folder: Path, *arguments: str) -> str:
    """Run Python with the package of a folder; return what it printed."""
    ended = subprocess.run(  # noqa: S603 -- our own commands
        [sys.executable, *arguments],
        check=False,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder / "shared")},
    )
    if ended.returncode:
        raise SystemExit(ended.stdout)
    return ended.stdout


def main() -> None:
    """Try the example."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        touched = write(folder)
        run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
        told = run(folder, "-c", COMMAND, "check", "policy.yaml")
    if len(touched) != 3 or "guards: quarantine" not in told:
        raise SystemExit(f"{sorted(touched)}\n{told}")
    print("The worked example touches three files, and works.")


if __name__ == "__main__":
    main()
