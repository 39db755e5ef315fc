"""
Work on a corpus in several processes or on Ray, with the result of one process.

Nothing is decided here. A pool has one method, `map`, that answers batches in their
order. What confidential objects hold is pickled
here and nowhere else: it goes to a worker in memory. What a worker raises does not
leave it; only the type's name comes back, for a message may quote.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar

from sdrag.errors import HostError, UsageError, require_extra
from sdrag.vocabulary import Confidential

R = TypeVar("R")
_AHEAD = 2
"""So many batches for each worker are on their way."""
_TRIES = 3
"""A worker of Ray that died is started again, and its batch tried, so many times."""
Answer = Callable[[Any], R]
"""Answers a batch."""


Ways = tuple[int, Callable[[bytes], None], Callable[[], bytes]]
"""How many batches may be on their way, what submits one, what takes an answer."""


class Pool(ABC):
    """Where a corpus is worked on."""

    __slots__ = ()

    def map(
        self,
        make: Callable[..., Answer[R]],
        common: Sequence[Any],
        batches: Iterable[Any],
    ) -> Iterator[R]:
        """
        Yield the answer to each batch, in their order.

        Args:
            make: A function of a module. It makes what answers, of what is common.
            common: What every batch needs.
            batches: Are read as they are worked on.

        Raises:
            UsageError: The pool is not open.
            HostError: A worker failed.
        """
        with self._open(_pickled((make, tuple(common)))) as (most, submit, take):
            waiting = 0
            for batch in batches:
                if waiting == most:
                    yield _opened(take)
                    waiting -= 1
                submit(_pickled(batch))
                waiting += 1
            for _ in range(waiting):
                yield _opened(take)

    @abstractmethod
    def _open(self, common: bytes) -> AbstractContextManager[Ways]:
        """Get workers ready for a pass."""


def count_processors() -> int:
    """Return how many processors this process may use."""
    knows_its_own = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if knows_its_own else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Processes(Pool):
    """
    Processes of this machine, for one pass each.

    Args:
        workers: How many; one for each processor if not given.
    """

    workers: int | None = None

    @contextmanager
    def _open(self, common: bytes) -> Iterator[Ways]:
        count = self.workers or count_processors()
        spawned = multiprocessing.get_context("spawn")
        waiting: deque[Future[bytes]] = deque()
        with ProcessPoolExecutor(count, spawned, _get_ready, (common,)) as executor:
            yield (
                _AHEAD * count,
                lambda batch: waiting.append(executor.submit(_answered, "", batch)),
                lambda: waiting.popleft().result(),
            )


@dataclass(slots=True)
class RayPool(Pool):
    """
    Actors of Ray, for use in a `with` block; they keep their models from pass to pass.

    Where Ray runs in this process already, it is used and left running. Else Ray is
    joined at an address, or started on this machine, on loopback, without its dashboard
    and its usage report, and stopped at the end of the block.

    Args:
        workers: How many actors; one for each processor if not given.
        address: Of a cluster that is running; `RAY_ADDRESS` if not given.
        spill: A folder for what does not fit into Ray's memory; it holds raw text.
        memory: Bytes of Ray's shared memory; a share of the machine's if not given.
    """

    workers: int | None = None
    address: str | None = None
    spill: Path | None = None
    memory: int | None = None
    _ray: Any = field(default=None, init=False)
    _actors: list[Any] = field(default_factory=list, init=False)
    _joined: bool = field(default=False, init=False)

    def __enter__(self) -> Self:
        """
        Start the actors.

        Raises:
            MissingExtraError: The extra `ray` is not installed.
            HostError: Ray cannot be started or reached.
        """
        address = self.address or os.environ.get("RAY_ADDRESS")
        if not address:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            os.environ.setdefault("RAY_enable_metrics_collection", "0")
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        with require_extra("ray", "Work on Ray"):
            ray = self._ray = import_module("ray")
        self._joined = not ray.is_initialized()
        try:
            if self._joined:
                logging.getLogger("ray").setLevel(logging.ERROR)
                where = {"address": address} if address else self._here()
                ray.init(log_to_driver=False, configure_logging=False, **where)
            count = self.workers or int(ray.cluster_resources().get("CPU", 1))
        except Exception as error:  # noqa: BLE001 -- as Ray pleases
            raise HostError(
                f"Ray cannot be started or reached ({type(error).__name__})."
            ) from None
        actor = ray.remote(_Worker).options(
            max_restarts=_TRIES, max_task_retries=_TRIES, scheduling_strategy="SPREAD"
        )
        self._actors = [actor.remote() for _ in range(count)]
        return self

    def __exit__(self, *_: object) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        if self._joined:
            self._ray.shutdown()

    def _here(self) -> dict[str, Any]:
        given: dict[str, Any] = {
            "address": "local",
            "include_dashboard": False,
            "_node_ip_address": "127.0.0.1",
            "num_cpus": self.workers,
            "object_store_memory": self.memory,
        }
        if self.spill is not None:
            self.spill.mkdir(parents=True, exist_ok=True, mode=0o700)
            given["object_spilling_directory"] = str(self.spill.absolute())
        return given

    @contextmanager
    def _open(self, common: bytes) -> Iterator[Ways]:
        if not self._actors:
            raise UsageError("The pool is not open.", hint="Use it in a `with` block.")
        pool = import_module("ray.util").ActorPool(self._actors * _AHEAD)
        shared = self._ray.put(common)

        def send(actor: Any, batch: bytes) -> Any:
            return actor.answer.remote(shared.hex(), [shared], batch)

        most = _AHEAD * len(self._actors)
        yield most, partial(pool.submit, send), pool.get_next


class _Worker:
    """An actor; where it was started again, it makes itself ready again."""

    def answer(self, name: str, shared: Sequence[Any], batch: bytes) -> bytes:
        if name not in _ready:
            _get_ready(import_module("ray").get(shared[0]), name)
        return _answered(name, batch)


_ready: dict[str, Callable[[], Callable[[Any], Any]]] = {}
"""In a worker: makes what answers batches, by the name of what is common to them."""


def _get_ready(common: bytes, name: str = "") -> None:
    """Have what is common made with the first batch, which tells of its errors."""
    # Workers share the processors; each of their networks would take all of them.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    @cache
    def made() -> Callable[[Any], Any]:
        make, given = pickle.loads(common)  # noqa: S301 -- made by `_pickled`
        answer: Callable[[Any], Any] = make(*given)
        return answer

    _ready.clear()
    _ready[name] = made


def _answered(name: str, batch: bytes) -> bytes:
    """Answer a batch, in a worker; an error is answered by its type's name."""
    try:
        answer = _ready[name]()(pickle.loads(batch))  # noqa: S301 -- as above
        return _pickled(("", answer))
    except Exception as error:  # noqa: BLE001 -- its message may quote
        return _pickled((type(error).__name__, None))


def _opened(take: Callable[[], bytes]) -> Any:
    try:
        fault, answer = pickle.loads(take())  # noqa: S301 -- made by `_answered`
    except Exception as error:  # noqa: BLE001 -- its message may quote
        raise HostError(f"A worker was lost ({type(error).__name__}).") from None
    if fault:
        raise HostError(f"A worker failed with {fault}.")
    return answer


class _Pickler(pickle.Pickler):
    """Pickles what is confidential, too: on purpose, to a worker, in memory."""

    def reducer_override(self, item: Any) -> Any:
        if isinstance(item, MappingProxyType):
            return dict, (dict(item),)
        kind: Any = type(item)
        if issubclass(kind, Confidential) and is_dataclass(kind):
            given = (getattr(item, each.name) for each in fields(kind) if each.init)
            return kind, tuple(given)
        return NotImplemented


def _pickled(item: Any) -> bytes:
    file = BytesIO()
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(item)
    return file.getvalue()
