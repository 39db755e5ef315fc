"""Reading the data of the suites: a JSON file, or rows of one form."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pyarrow.parquet

from sdrag.errors import UsageError

__all__ = ["DATA", "load_articles", "read_json", "read_rows"]

DATA = Path(__file__).parent / "data"
"""What the suites measure on when no other data is named."""

T = TypeVar("T")


def read_json(path: Path, content: str = "JSON") -> Any:
    """
    Read a file of JSON; one that ends with `.jsonl` gives a list of its lines.

    Args:
        path: Of the file.
        content: What the file should hold, for the error.

    Raises:
        UsageError: The file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if not path.name.endswith(".jsonl"):
            return json.loads(text)
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{path.name!r} cannot be read as {content} ({type(error).__name__})."
        ) from None


def read_rows(path: Path, build: Callable[[dict[str, Any]], T], form: str) -> list[T]:
    """
    Read JSON lines, a JSON list or a Parquet file, and build something of each row.

    Args:
        path: Of the file.
        build: Raises a KeyError, TypeError or ValueError at a row of another form.
        form: What a row should be, for the error.

    Raises:
        UsageError: The file cannot be read, or a row is of another form.
    """
    try:
        rows = _raw_rows(path)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path.name!r} cannot be read ({type(error).__name__})."
        ) from None
    built = []
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str) and not row.strip():
            continue
        try:
            built.append(build(json.loads(row) if isinstance(row, str) else row))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            message = f"Line {number} of {path.name!r} is not {form}."
            raise UsageError(message) from None
    return built


def _raw_rows(path: Path) -> list[Any]:
    if path.suffix == ".parquet":
        rows: list[Any] = pyarrow.parquet.read_table(path).to_pylist()
        return rows
    text = path.read_text(encoding="utf-8")
    with suppress(ValueError, RecursionError):
        whole = json.loads(text)
        if isinstance(whole, list):
            return whole
    return list(text.splitlines())


def load_articles(path: Path | None = None) -> list[dict[str, Any]]:
    """
    Read articles in the form of the SD-RAG paper, in the order of their file names.

    Args:
        path: A folder of JSON files, a JSON file with one article or a list of them, or
            None for the twenty of this folder.

    Raises:
        UsageError: A file cannot be read as articles, or there is none.
    """
    source = path or DATA / "articles"
    files = sorted(source.glob("*.json")) if source.is_dir() else [source]
    articles: list[dict[str, Any]] = []
    for file in files:
        content = read_json(file, "articles")
        articles += content if isinstance(content, list) else [content]
    if not articles or not all(isinstance(article, dict) for article in articles):
        raise UsageError(f"{source.name!r} holds something that is not an article.")
    return articles
