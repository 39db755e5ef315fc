"""A progress bar on the terminal, or in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sdrag.disclosure.hierarchy.tree import Progress
from sdrag.extras import needs

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(*, shown: bool) -> Iterator[Progress | None]:
    """
    Open a bar, if one is to be shown; yields what tells it how far things are.

    Raises:
        MissingExtraError: The extra `hierarchy` is not installed.
    """
    if not shown:
        yield None
        return
    with needs("hierarchy", "A progress bar"):
        from tqdm.auto import tqdm  # noqa: PLC0415 -- an extra
    with tqdm(desc="Summarizing", total=0) as bar:

        def tell(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield tell
