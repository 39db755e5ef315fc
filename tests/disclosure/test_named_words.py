"""A word that a constraint says goes; words of a quoted phrase by themselves stay."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import sdrag

ROWS = tomllib.loads(Path(__file__).with_name("named_words.toml").read_text("utf-8"))


def release(constraint: str, text: str) -> str:
    return sdrag.explain(text, {"constraints": [constraint]}).released or ""


@pytest.mark.parametrize("row", ROWS["subject"])
def test_a_word_of_the_subject_goes_where_it_tells_by_itself(row: dict[str, str]):
    """'She was granted asylum' tells by it, and 'Her salary is' tells nothing."""
    released = release(row["constraint"], row["text"])
    assert row["gone"] not in released
    assert row["stays"] in released


@pytest.mark.parametrize("row", ROWS["phrase"])
def test_a_quoted_phrase_is_hidden_as_a_whole(row: dict[str, str]):
    """A word of it that begins a sentence elsewhere is no part of it."""
    released = release(f'Hide "{row["phrase"]}"', row["text"])
    assert row["phrase"] not in released.lower().replace(row["stays"].lower(), "")
    assert row["stays"] in released
