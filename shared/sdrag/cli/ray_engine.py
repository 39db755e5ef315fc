"""What `--engine ray` means to every command that takes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sdrag.cli.common import LOCAL
from sdrag.errors import UsageError

if TYPE_CHECKING:
    from sdrag.linkage.placement import Placement

__all__ = ["check_engine", "placement_of"]


def check_engine(engine: str, llm: str) -> None:
    """
    Refuse a model on Ray: its provider sets the pace, and its key would travel.

    Raises:
        UsageError: Both were asked for.
    """
    if LOCAL not in {engine, llm}:
        raise UsageError(
            f"--engine {engine} works with the local engine only.",
            hint="Leave out --llm, or leave out --engine.",
        )


@contextmanager
def placement_of(engine: str, spill: Path | None) -> Iterator[Placement]:
    """
    Yield where a corpus is masked; Ray runs inside the block.

    Args:
        engine: `local` or `ray`.
        spill: Where Ray puts what its memory does not hold.

    Raises:
        MissingExtraError: The extra `ray` is not installed.
        HostError: Ray cannot be started or reached.
    """
    if engine == LOCAL:
        from sdrag.linkage.placement import HERE

        yield HERE
        return
    from sdrag.distributed import RayOptions, RayPlacement, ray_session

    options = RayOptions(spill=spill)
    with ray_session(options):
        yield RayPlacement(options)
