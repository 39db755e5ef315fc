"""A corpus in batches, and a progress bar on the terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from sdrag.errors import require_extra

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much that is known of so far."""


@contextmanager
def progress_bar(what: str, *, shown: bool) -> Iterator[Progress | None]:
    """Open a bar if one is to be shown; yields what tells it how far the work is."""
    if not shown:
        yield None
        return
    with require_extra("hierarchy", "A progress bar"):
        from tqdm.auto import tqdm  # noqa: PLC0415 -- an extra
    with tqdm(desc=what, total=0) as bar:

        def update(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield update


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """Yield up to `size` items at a time (`itertools.batched` of Python 3.12)."""
    iterator = iter(items)
    while batch := tuple(islice(iterator, size)):
        yield batch
