"""Reading the data of the suites: a JSON file, or rows of one form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pyarrow.parquet

from sdrag.errors import UsageError

DATA = Path(__file__).parent / "data"
"""What the suites measure on when no other data is named."""

T = TypeVar("T")


def read_json(path: Path) -> Any:
    """
    Read a file of JSON, JSON lines or Parquet; the last two give a list.

    Raises:
        UsageError: The file cannot be read.
    """
    try:
        if path.suffix == ".parquet":
            return pyarrow.parquet.read_table(path).to_pylist()
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".jsonl":
            return json.loads(text)
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{path.name!r} cannot be read ({type(error).__name__})."
        ) from None


def read_rows(path: Path, build: Callable[[dict[str, Any]], T]) -> list[T]:
    """
    Read a file, and build something of each of its rows.

    Args:
        path: Of the file.
        build: Raises a KeyError, TypeError or ValueError at a row of another form.

    Raises:
        UsageError: The file cannot be read, or a row is of another form.
    """
    built = []
    for number, row in enumerate(read_json(path), start=1):
        try:
            built.append(build(row))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"Row {number} of {path.name!r} is of another form ({error!r})."
            raise UsageError(message) from None
    return built


def load_articles(path: Path | None = None) -> list[dict[str, Any]]:
    """
    Read articles in the form of the SD-RAG paper, in the order of their file names.

    Args:
        path: A folder of JSON files, a JSON file with one article or a list of them, or
            None for the twenty of this folder.

    Raises:
        UsageError: A file cannot be read.
    """
    source = path or DATA / "articles"
    files = sorted(source.glob("*.json")) if source.is_dir() else [source]
    contents = [read_json(file) for file in files]
    return [a for c in contents for a in (c if isinstance(c, list) else [c])]
