"""One bar for long work, in percent; on stderr, where no JSON is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sdrag.effects.progress import Progress
from sdrag.errors import require_extra

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Progress]:
    """
    Show how much is done.

    Args:
        label: What is being done.
        total: Of the items.

    Yields:
        A function that takes how many are done, and how many there are.
    """
    with require_extra("cli", "A progress bar"):
        from rich.console import Console
        from rich.progress import Progress as Bar
    with Bar(console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield update
