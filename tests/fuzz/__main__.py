"""
Fuzz each target: `python -m tests.fuzz [--minutes M] [TARGET ...]`.

Each runs in a process of its own, since libFuzzer ends its process at a find. The
corpus is kept in `.fuzz/`, so the next run begins where this one stopped.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import atheris

_CORPUS = Path(".fuzz")
_TRIED = re.compile(r"stat::number_of_executed_units:\s+(\d+)")


def main() -> int:
    """Run the targets one after the other; return 1 if a promise broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="for each target")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    asked = parser.parse_args()
    if asked.inside:
        return _fuzz(asked.targets[0], round(asked.minutes * 60))
    from tests.fuzz.targets import TARGETS  # noqa: PLC0415 -- not instrumented here

    finds = 0
    for name in asked.targets or TARGETS:
        command = [sys.executable, "-m", "tests.fuzz", "--inside", "--minutes"]
        done = subprocess.run(
            [*command, str(asked.minutes), name],
            capture_output=True,
            text=True,
            check=False,
        )
        tried = _TRIED.search(done.stderr)
        count = f"{int(tried[1]):,}" if tried else "?"
        print(f"{name:14}{count:>12} inputs{'  FOUND' if done.returncode else ''}")
        if done.returncode:
            finds += 1
            print(done.stdout + done.stderr[-4_000:])
    return int(finds > 0)


def _fuzz(name: str, seconds: int) -> int:
    with atheris.instrument_imports(include=["sdrag"], enable_loader_override=False):
        from tests.fuzz.targets import TARGETS  # noqa: PLC0415 -- instrumented

    corpus = _CORPUS / name
    corpus.mkdir(parents=True, exist_ok=True)
    atheris.Setup(
        [
            sys.argv[0],
            str(corpus),
            f"-artifact_prefix={_CORPUS}/{name}-",
            f"-max_total_time={seconds}",
            "-print_final_stats=1",
            "-timeout=20",
            "-rss_limit_mb=4096",
        ],
        TARGETS[name],
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
