"""The rules that `benchmarks/highlight_mutants.py` takes out are there to take out."""

from __future__ import annotations

import pytest

from benchmarks.highlight_mutants import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_every_mutant_changes_its_module(mutant: Mutant) -> None:
    """A line that is reworded takes its mutant along, which is still Python."""
    assert compile(mutant.source(), mutant.module, "exec")
