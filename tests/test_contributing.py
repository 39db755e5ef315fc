"""The worked example of CONTRIBUTING.md works, on a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
STEP = re.compile(r"<!-- (file|before): (.*?) -->\n```\w+\n(.*?)```\n", re.DOTALL)
COMMAND = "from sdrag.studio.cli import main; main()"
TABLE = Path("shared/sdrag/policy/guards.py")


def test_adding_a_guard_touches_three_files(tmp_path):
    """The guard with its section, the table, and its test; then it is on everywhere."""
    shutil.copytree(ROOT / "shared", tmp_path / "shared")
    touched = {TABLE}
    steps = STEP.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    for kind, place, code in steps:
        if kind == "file":
            path = Path(place)
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(code, encoding="utf-8")
            touched.add(path)
            continue
        text = (tmp_path / TABLE).read_text(encoding="utf-8")
        mark = place.replace("\\n", "\n")
        assert text.count(mark) == 1, mark
        changed = text.replace(mark, code + mark)
        (tmp_path / TABLE).write_text(changed, encoding="utf-8")
    policy = tmp_path / "policy.yaml"
    policy.write_text("quarantine: {}\n", encoding="utf-8")

    tested = _run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    checked = _run(tmp_path, "-c", COMMAND, "check", str(policy))

    assert len(touched) == 3
    assert tested.returncode == 0, tested.stdout
    assert "guards: quarantine" in checked.stdout, checked.stderr


def _run(folder, *arguments):
    """Run Python in a folder, with the package of that folder before the installed."""
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder / "shared")},
    )
