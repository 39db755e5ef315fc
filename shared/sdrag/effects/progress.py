"""A progress bar on the terminal, or in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sdrag.errors import require_extra

__all__ = ["Progress", "progress_bar"]

Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much that is known of so far."""


@contextmanager
def progress_bar(
    what: str, *, shown: bool, extra: str = "hierarchy"
) -> Iterator[Progress | None]:
    """
    Open a bar, if one is to be shown; yields what tells it how far things are.

    Args:
        what: Is being done, such as `Summarizing`.
        shown: Whether there is a bar at all.
        extra: That brings what draws it.

    Raises:
        MissingExtraError: The extra is not installed.
    """
    if not shown:
        yield None
        return
    with require_extra(extra, "A progress bar"):
        from tqdm.auto import tqdm  # noqa: PLC0415 -- an extra
    with tqdm(desc=what, total=0) as bar:

        def tell(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield tell
