"""
Parcels of work to workers and back, in order.

A parcel is plain data, pickled into one cell of a table: Ray sees bytes, and nothing
that it could print. A worker is an actor that is made ready once, for example by
loading its models. What it raises does not leave it: only the type's name comes back.
A worker that dies is replaced by Ray, and its parcels are worked on again. A parcel
has one answer, however often it was tried.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from sdrag.distributed.session import RayOptions
from sdrag.engine.batches import batched
from sdrag.errors import HostError, SdragError

__all__ = ["Work", "placed"]

Work = Callable[[Any], Any]
"""Makes an answer of a parcel; both are plain data."""

_BLOCKS_PER_WORKER = 8
_COLUMN = "parcel"


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
        parcels: Are read to their end at once, and held by Ray.
        count: How many there are.
        options: How Ray is used, which is running.

    Raises:
        HostError: A worker, or Ray, failed.
    """
    import pyarrow as pa  # noqa: PLC0415 -- an extra

    ray: Any = import_module("ray")
    import_module("ray.data")
    if not count:
        return
    workers = options.workers or max(int(ray.cluster_resources().get("CPU", 1)), 1)
    blocks = min(options.blocks or _BLOCKS_PER_WORKER * workers, count)
    shared = ray.put(pickle.dumps((make, tuple(common))))
    pickled = map(pickle.dumps, parcels)
    tables = [
        ray.put(pa.table({_COLUMN: pa.array(some, pa.large_binary())}))
        for some in batched(pickled, -(-count // blocks))
    ]
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    answers = ray.data.from_arrow_refs(tables).map_batches(
        _Worker,
        batch_size=None,
        batch_format="pyarrow",
        fn_constructor_args=([shared],),
        compute=ray.data.ActorPoolStrategy(size=min(workers, blocks)),
        num_cpus=1,
    )
    try:
        for table in answers.iter_batches(batch_size=None, batch_format="pyarrow"):
            yield from map(_opened, table[_COLUMN].to_pylist())
    except SdragError:
        raise
    except Exception as error:  # noqa: BLE001 -- its message may quote
        raise HostError(f"Ray failed with {type(error).__name__}.") from None


class _Worker:
    """
    An actor of Ray.

    Args:
        shared: A reference to what makes it ready.
    """

    def __init__(self, shared: Sequence[Any]) -> None:
        import ray  # noqa: PLC0415 -- an extra

        self._fault = ""
        self._work: Work = _nothing
        try:
            make, common = pickle.loads(ray.get(shared[0]))  # noqa: S301 -- our own
            self._work = make(*common)
        except Exception as error:  # noqa: BLE001 -- its message may quote
            self._fault = type(error).__name__

    def __call__(self, table: Any) -> Any:
        """Answer the parcels of a table."""
        import pyarrow as pa  # noqa: PLC0415 -- an extra

        answers = [self._answer(parcel) for parcel in table[_COLUMN].to_pylist()]
        return pa.table({_COLUMN: pa.array(answers, pa.large_binary())})

    def _answer(self, parcel: bytes) -> bytes:
        if self._fault:
            return pickle.dumps((self._fault, None))
        try:
            answer = self._work(pickle.loads(parcel))  # noqa: S301 -- our own
            return pickle.dumps(("", answer))
        except Exception as error:  # noqa: BLE001 -- its message may quote
            return pickle.dumps((type(error).__name__, None))


def _nothing(_: Any) -> None:
    return None


def _opened(answer: bytes) -> Any:
    fault, value = pickle.loads(answer)  # noqa: S301 -- our own
    if fault:
        raise HostError(f"A worker failed with {fault}.")
    return value
