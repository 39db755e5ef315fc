"""
Several steps side by side: their effects of one kind become one effect.

One effect is one round trip, so three questions that each need one completion cost one
round trip and not three. Steps that fail do not touch the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from sdrag.engine.steps import Effect, Failure, Outcome, Reply, Steps
from sdrag.errors import SdragError

__all__ = ["together"]

T = TypeVar("T")


def together(several: Sequence[Steps[T]]) -> Steps[list[Outcome[T]]]:
    """Run steps side by side; one outcome for each, in order."""
    outcomes: dict[int, Outcome[T]] = {}
    waiting: dict[int, Effect] = {}

    def advance(index: int, move: Callable[[], Effect]) -> None:
        waiting.pop(index, None)
        try:
            waiting[index] = move()
        except StopIteration as stop:
            outcomes[index] = Reply(stop.value)
        except SdragError as error:
            outcomes[index] = Failure(error)

    try:
        for index, steps in enumerate(several):
            advance(index, partial(next, steps))
        while waiting:
            group = _alike(waiting)
            merged = _merged([waiting[index] for index in group])
            try:
                answers = list((yield merged))
            except SdragError as fault:
                for index in group:
                    advance(index, partial(several[index].throw, fault))
                continue
            for index in group:
                own = [answers.pop(0) for _ in waiting[index].items]
                advance(index, partial(several[index].send, own))
    finally:
        for steps in several:
            steps.close()
    return [outcomes[index] for index in range(len(several))]


def _alike(waiting: dict[int, Effect]) -> list[int]:
    """Choose the steps whose effect can be answered with the first one's."""
    kind = _kind(next(iter(waiting.values())))
    return sorted(index for index, effect in waiting.items() if _kind(effect) == kind)


def _kind(effect: Effect) -> Effect:
    return _with_items(effect, ())


def _merged(effects: Sequence[Effect]) -> Effect:
    items = tuple(item for effect in effects for item in effect.items)
    return _with_items(effects[0], items)


def _with_items(effect: Any, items: tuple[Any, ...]) -> Effect:
    """Copy an effect with other items; which kind it is, the caller knows."""
    copy: Effect = replace(effect, items=items)
    return copy
