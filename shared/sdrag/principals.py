"""
On whose behalf: a context-local principal.

Nothing per user is kept on a shared object. `acting_as` sets the principal for the
code inside its block, in this thread or task and in what it starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sdrag.vocabulary import Principal

__all__ = ["acting_as", "current_principal"]

_principal: ContextVar[Principal | None] = ContextVar("sdrag_principal", default=None)


@contextmanager
def acting_as(principal: Principal | None) -> Iterator[None]:
    """Answer everything inside the block on behalf of `principal`; None is nobody."""
    token = _principal.set(principal)
    try:
        yield
    finally:
        _principal.reset(token)


def current_principal() -> Principal | None:
    """Return the principal of this context, if there is one."""
    return _principal.get()
