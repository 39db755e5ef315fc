"""
Parcels of work to workers and back, in order.

A parcel is plain data, pickled: Ray sees bytes, and nothing that it could print. A task
of Ray works on a few parcels. Ray keeps its processes from task to task, so a process
loads models once, for all passes over a corpus. An actor pool of Ray Data was tried:
each pass began with new processes, and all parcels were in Ray's memory at once. Here
only some are on their way, so the caller is never far ahead of the workers.

What a worker raises does not leave it: only the type's name comes back. Where a worker
dies, Ray has its parcels worked on again by another one. A parcel has one answer,
however often it was tried.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from sdrag.distributed.session import RayOptions
from sdrag.effects.progress import batched
from sdrag.errors import HostError

__all__ = ["Work", "placed"]

Work = Callable[[Any], Any]
"""Makes an answer of a parcel; both are plain data."""

_AHEAD = 3
"""So many tasks for each worker are on their way."""
_TRIES = 3
"""A task whose worker died is tried so many times more."""


def placed(
    make: Callable[..., Work],
    common: Sequence[Any],
    parcels: Iterable[Any],
    count: int,
    options: RayOptions,
) -> Iterator[Any]:
    """
    Yield the answer to each parcel, in their order.

    Args:
        make: A function of a module. It makes a worker ready, from what is common.
        common: What all workers need; plain data.
        parcels: Are read as workers take them.
        count: How many there are.
        options: How Ray is used, which is running.

    Raises:
        HostError: A worker, or Ray, failed.
    """
    if not count:
        return
    ray: Any = import_module("ray")
    workers = options.workers or max(int(ray.cluster_resources().get("CPU", 1)), 1)
    task = ray.remote(num_cpus=1, max_retries=_TRIES)(_answered)
    waiting: deque[Any] = deque()
    shared = ray.put(pickle.dumps((make, tuple(common))))
    try:
        for some in batched(parcels, -(-count // (options.blocks or count))):
            if len(waiting) == _AHEAD * workers:
                yield from _answers(ray, waiting.popleft())
            waiting.append(task.remote(shared.hex(), [shared], pickle.dumps(some)))
        while waiting:
            yield from _answers(ray, waiting.popleft())
    finally:
        for unread in waiting:
            ray.cancel(unread)


def _answers(ray: Any, task: Any) -> list[Any]:
    """Wait for the answers of a task."""
    try:
        answered = ray.get(task)
    except Exception as error:  # noqa: BLE001 -- its message may quote
        raise HostError(f"Ray failed with {type(error).__name__}.") from None
    return _opened(answered)


_ready: dict[str, Work] = {}
"""In a worker: what it was made ready for, by the name of what is common."""


def _answered(name: str, shared: Sequence[Any], parcels: bytes) -> bytes:
    """Answer some parcels, in a worker; an error is answered by its type's name."""
    try:
        if name not in _ready:
            ray: Any = import_module("ray")
            make, common = pickle.loads(ray.get(shared[0]))  # noqa: S301 -- our own
            _ready.clear()  # what was common to another pass is not needed any more
            _ready[name] = make(*common)
        answers = list(map(_ready[name], pickle.loads(parcels)))  # noqa: S301 -- our own
        return pickle.dumps(("", answers))
    except Exception as error:  # noqa: BLE001 -- its message may quote
        return pickle.dumps((type(error).__name__, []))


def _opened(answered: bytes) -> list[Any]:
    fault, answers = pickle.loads(answered)  # noqa: S301 -- our own
    if fault:
        raise HostError(f"A worker failed with {fault}.")
    return list(answers)
