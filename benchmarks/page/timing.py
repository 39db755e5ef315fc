"""
How times are taken: contenders in turn, within one process, and their medians.

A busy machine slows whoever runs at that moment. So contenders take turns, round after
round, in an order that changes each time, and only what the same run measured is
compared.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from math import log
from multiprocessing import get_context
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

__all__ = ["exponent", "in_fresh_process", "in_turn", "medians", "seconds"]

Work = Callable[[int], object]


def in_turn(
    contenders: Mapping[str, Work], rounds: int, *, warm: int = 1
) -> dict[str, list[float]]:
    """
    Return the seconds of each round of each contender.

    Args:
        contenders: What is called with the number of the round.
        rounds: That count.
        warm: Rounds before them, which do not count.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders.items())
    for number in range(-warm, rounds):
        for name, work in order if number % 2 else reversed(order):
            gc.collect()
            took = seconds(lambda work=work, number=number: work(number + warm))
            if number >= 0:
                times[name].append(took)
    return times


def medians(
    contenders: Mapping[str, Work], rounds: int, *, warm: int = 1
) -> dict[str, float]:
    """Return the median seconds of each contender."""
    found = in_turn(contenders, rounds, warm=warm)
    return {name: median(times) for name, times in found.items()}


def seconds(work: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = perf_counter()
    work()
    return perf_counter() - start


def exponent(sizes: Iterable[float], times: Iterable[float]) -> float:
    """Return the slope of the logarithm of time over that of size: 1 is linear."""
    across, up = [log(size) for size in sizes], [log(time) for time in times]
    return float(np.polyfit(across, up, 1)[0])


def in_fresh_process(work: Callable[..., Any], *given: object, **named: object) -> Any:
    """Call a function of a module in a new interpreter, and return its result."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *given, **named).result()
