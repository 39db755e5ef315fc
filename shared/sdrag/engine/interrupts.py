"""
Interrupts and cancellations: they pass, and what they carry does not.

`KeyboardInterrupt`, `SystemExit`, `GeneratorExit` and `asyncio.CancelledError` are no
`Exception`, so nobody replaces them by an error of ours. But whoever raises one can put
text into it, and hosts, loggers and tracers read it. So a bare one leaves in its place.

asyncio raises two of them out of the event loop when a task raises them, and not in the
task that waits. `hold` keeps one as a value until `release` raises it there.
"""

from __future__ import annotations

import re
from asyncio import CancelledError
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from typing import Never, TypeVar, overload

from sdrag.errors import InternalError, SdragError, cut_off

__all__ = ["Held", "bare_interrupt", "hold", "release"]

T = TypeVar("T")
_PLAIN: tuple[type[BaseException], ...] = (KeyboardInterrupt, GeneratorExit)
_OF_A_SCOPE = re.compile(r"Cancelled (?:by|via) cancel scope [0-9a-f]+", re.ASCII)
"""How anyio, and so Starlette, knows its own cancellations: an id and no more."""


def bare_interrupt(error: BaseException) -> BaseException:
    """
    Return a fresh interrupt of the same kind, without arguments, chain and frames.

    An exit keeps a code that is a number. A group keeps its interrupts, and errors of
    ours in place of its errors. Raise the result outside the `except` block, or Python
    hangs the original on it.
    """
    match error:
        case SdragError():
            return cut_off(error)
        case Exception():
            return InternalError(f"A call failed with {type(error).__name__}.")
        case BaseExceptionGroup():
            return BaseExceptionGroup(
                "A call was interrupted.", [bare_interrupt(end) for end in _ends(error)]
            )
        case SystemExit(code=code):
            return SystemExit(code if code is None or isinstance(code, int) else 1)
        case CancelledError():
            return CancelledError(*_scope(error))
    kind = next((kind for kind in _PLAIN if isinstance(error, kind)), type(error))
    return _empty(kind)


@dataclass(frozen=True, slots=True, repr=False)
class Held:
    """An interrupt that is raised where its call is waited for."""

    error: BaseException


async def hold(call: Awaitable[T]) -> T | Held:
    """Await a call; return an interrupt of it. A cancellation is raised, as ever."""
    try:
        return await call
    except (Exception, CancelledError):
        raise
    except BaseException as error:  # noqa: BLE001 -- raised by `release`
        return Held(bare_interrupt(error))


@overload
def release(result: Held) -> Never: ...


@overload
def release(result: T) -> T: ...


def release(result: object) -> object:
    """Return what a call returned, or raise its interrupt."""
    if isinstance(result, Held):
        raise cut_off(result.error)
    return result


def _ends(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    """Give what a group and the groups in it hold."""
    waiting: list[BaseException] = [group]
    while waiting:
        error = waiting.pop()
        if isinstance(error, BaseExceptionGroup):
            waiting.extend(reversed(error.exceptions))
        else:
            yield error


def _scope(error: CancelledError) -> tuple[str, ...]:
    message = error.args[0] if error.args else None
    found = _OF_A_SCOPE.match(message) if isinstance(message, str) else None
    return (found[0],) if found else ()


def _empty(kind: type[BaseException]) -> BaseException:
    """Make an interrupt of a kind that may not be made without arguments."""
    try:
        made = kind()
    except Exception:  # noqa: BLE001 -- whatever it asks for
        made = kind.__new__(kind)
    made.args = ()
    return made
