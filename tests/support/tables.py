"""Tables of cases: one test for all rows, which reports every row that fails."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Any

Test = Callable[..., None]


def each_row(names: str, rows: Iterable[Any]) -> Callable[[Test], Test]:
    """
    Run a test with each row of a table.

    Args:
        names: The arguments that a row fills, separated by commas; all others of the
            test are fixtures, which the rows share.
        rows: A tuple for each row; where there is one name, its value.
    """
    filled, listed = names.split(", "), list(rows)

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(*bound: Any, **fixtures: Any) -> None:
            failures = []
            for row in listed:
                values = row if len(filled) > 1 else (row,)
                try:
                    test(*bound, **dict(zip(filled, values, strict=True)), **fixtures)
                except Exception as error:  # noqa: BLE001 -- each is raised in the end
                    error.add_note(f"In the row {row!r}.")
                    failures.append(error)
            if failures:
                message = f"{len(failures)} of {len(listed)} rows"
                raise ExceptionGroup(message, failures)

        parameters = signature(test).parameters.values()
        fixtures = [item for item in parameters if item.name not in filled]
        run.__signature__ = Signature(fixtures)  # type: ignore[attr-defined]
        return run

    return decorate


def read_table(test: str, name: str) -> dict[str, Any]:
    """Read a table in TOML that stands beside a file of tests."""
    return tomllib.loads(Path(test).with_name(name).read_text("utf-8"))
