"""
Ray, as sdrag starts it: on this machine, quiet, and with nothing reported.

Where Ray is running already it is used as it is: in this process, or at an address.
What is said here of ports, of logs and of folders holds only where sdrag starts it.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdrag.errors import HostError, UsageError, require_extra

__all__ = ["RayOptions", "is_running", "ray_session"]

_LOOPBACK = "127.0.0.1"
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_enable_metrics_collection": "0",
    # Without a cluster of several machines Ray listens on loopback alone.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}


@dataclass(frozen=True, slots=True)
class RayOptions:
    """
    How Ray is used.

    Args:
        address: Of a cluster that is running; `RAY_ADDRESS` if not given. Without
            either, Ray is started on this machine, and stopped at the end.
        workers: How many processes work; one for each processor if not given.
        blocks: In how many parts the work is handed out; the result is the same.
        spill: A folder for what does not fit into Ray's memory; it holds raw text.
        memory: Bytes of Ray's shared memory; a share of the machine's if not given.

    Raises:
        UsageError: A number is below one.
    """

    address: str | None = None
    workers: int | None = None
    blocks: int | None = None
    spill: Path | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name in ("workers", "blocks", "memory"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise UsageError(f"`{name}` must be 1 or more, got {number}.")


@contextmanager
def ray_session(options: RayOptions | None = None) -> Iterator[None]:
    """
    Have Ray running inside the block; what was running before is left running.

    Args:
        options: How Ray is used.

    Raises:
        MissingExtraError: The extra `ray` is not installed.
        HostError: Ray cannot be started or reached.
    """
    options = options or RayOptions()
    address = options.address or os.environ.get("RAY_ADDRESS")
    if not address:
        for name, value in _QUIET.items():
            os.environ.setdefault(name, value)
    with require_extra("ray", "Work on Ray"):
        import ray  # noqa: PLC0415 -- an extra
    if ray.is_initialized():
        yield
        return
    logging.getLogger("ray").setLevel(logging.ERROR)
    try:
        ray.init(**(_at(address) if address else _here(options)))
    except Exception as error:  # noqa: BLE001 -- as Ray pleases
        raise HostError(
            f"Ray cannot be started or reached ({type(error).__name__})."
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def is_running() -> bool:
    """Say whether this process has joined Ray; Ray is not loaded to find out."""
    ray: Any = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def _at(address: str) -> dict[str, Any]:
    return {
        "address": address,
        "log_to_driver": False,
        "configure_logging": False,
    }


def _here(options: RayOptions) -> dict[str, Any]:
    given: dict[str, Any] = {
        "address": "local",
        "include_dashboard": False,
        "log_to_driver": False,
        "configure_logging": False,
        "_node_ip_address": _LOOPBACK,
        "num_cpus": options.workers,
        "object_store_memory": options.memory,
    }
    if options.spill is not None:
        options.spill.mkdir(parents=True, exist_ok=True, mode=0o700)
        given["object_spilling_directory"] = str(options.spill.absolute())
    return given
