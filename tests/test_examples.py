"""Every example runs offline as it is printed, and shows no witness to a clerk."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SHOWN = {
    "agent": "[person] saw two men",
    "all_four": "answered: The harbour opens at six. (checked)",
    "answer": "[person] saw two men",
    "authorize": "clerk-7 ['The witness [person] saw two men",
    "ingest": "stored: ['The witness was [person].",
}


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
@pytest.mark.parametrize("name", SHOWN)
def test_example(name, framework, capsys):
    """It is one file, so it can be copied alone, and of at most 60 lines."""
    script = EXAMPLES / framework / f"{name}.py"

    runpy.run_path(str(script), run_name="__main__")

    printed = capsys.readouterr().out
    stored = re.search(
        r"^masked: .*$", printed, re.MULTILINE
    )  # whoever indexes sees it
    printed = printed.replace(stored.group(), "") if stored else printed
    to_a_clerk, _, to_a_judge = printed.partition("judge-1")
    assert SHOWN[name] in to_a_clerk
    assert not [word for word in ("Karlsson", "raid") if word in to_a_clerk]
    assert ("Karlsson" in to_a_judge) is (name == "authorize")
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 60


def test_there_are_no_others():
    """Each framework has the same ones."""
    for framework in ("langchain", "llamaindex"):
        names = {path.stem for path in (EXAMPLES / framework).iterdir()}
        assert names - {"__pycache__"} == set(SHOWN)
