"""What a host configures is imported from `sdrag`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sdrag
from sdrag import errors

ROOT = Path(__file__).parent.parent
TYPED = ROOT / "tests" / "typing" / "public_names.py"


def test_every_public_name_is_the_one_of_its_module():
    """`sdrag.Policy` is `sdrag.policy.Policy`, so `isinstance` agrees."""
    for name in sdrag.__all__:
        value = getattr(sdrag, name)
        assert value.__name__ == name
        assert value is getattr(sys.modules[value.__module__], name)


def test_every_error_is_a_public_name():
    """Whoever can catch an error can import it from `sdrag`."""
    assert {n for n in errors.__all__ if n.endswith("Error")} <= set(sdrag.__all__)


def test_a_type_checker_sees_every_name():
    """
    Each name has its type for mypy in strict mode, and a wrong use is an error.

    Asked for as `make check` asks, so that what mypy has read before is not read again.
    """
    pytest.importorskip("mypy")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", str(TYPED)],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert checked.returncode == 0, checked.stdout
