"""
Keep what happens inside a wrapper out of events, spans, callbacks and logs.

LlamaIndex tells nodes, prompts and replies to every handler in the lists of its
dispatchers, and to the handlers of its older callback managers. Those lists live in
modules, so no context can leave them out. At a request they are replaced by lists that
are empty inside a wrapper, and only there: a context variable says so, for the threads
and tasks that the wrapper starts. The application goes on adding and removing handlers
as before, and `uninstall` puts plain lists back. Older handlers get a list of ignored
events that holds every event inside a wrapper. No code of LlamaIndex is replaced.

`docs/leak-matrix.md` says what this does not reach. `tracing: {inner: shown}` in the
policy hides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any

from llama_index.core.callbacks import CallbackManager
from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.settings import Settings
from llama_index_instrumentation import root_manager

from sdrag.policy import Policy
from sdrag.privacy.log_privacy import suppress_logs

_is_hidden: ContextVar[bool] = ContextVar("sdrag_llamaindex_hidden", default=False)
_DISPATCHED = ("event_handlers", "span_handlers")
_IGNORED = ("event_starts_to_ignore", "event_ends_to_ignore")


class _Handlers(list[Any]):
    """The handlers of a dispatcher: none, inside a wrapper."""

    def __iter__(self) -> Iterator[Any]:
        return iter(()) if _is_hidden.get() else super().__iter__()


class _IgnoredEvents(tuple[Any, ...]):  # noqa: SLOT001 -- a tuple has no room for slots
    """The events that an older handler ignores: all, inside a wrapper."""

    def __contains__(self, kind: object) -> bool:
        return _is_hidden.get() or super().__contains__(kind)


@contextmanager
def hide_from_tracers(policy: Policy) -> Iterator[None]:
    """Surround the inner calls of one request; the policy says if they are hidden."""
    if policy.tracing.inner == "shown":
        yield
        return
    install()
    token = _is_hidden.set(True)
    try:
        with suppress_logs():
            yield
    finally:
        _is_hidden.reset(token)


def install() -> None:
    """Make the handlers that are attached now hear nothing inside a wrapper."""
    for dispatcher in list(root_manager.dispatchers.values()):
        for name in _DISPATCHED:
            if type(handlers := getattr(dispatcher, name)) is not _Handlers:
                setattr(dispatcher, name, _Handlers(handlers))
    # Where there is no manager, the property makes one, and `Settings.llm` takes it.
    mute(copy(Settings).callback_manager)
    _mute_handler(Settings.global_handler)


def mute(manager: CallbackManager | None) -> None:
    """Make the handlers of an older callback manager hear nothing inside a wrapper."""
    for handler in () if manager is None else manager.handlers:
        _mute_handler(handler)


def uninstall() -> None:
    """Put plain lists back; the next request of a wrapper installs again."""
    for dispatcher in list(root_manager.dispatchers.values()):
        for name in _DISPATCHED:
            setattr(dispatcher, name, getattr(dispatcher, name)[:])


def _mute_handler(handler: BaseCallbackHandler | None) -> None:
    for name in () if handler is None else _IGNORED:
        if type(ignored := getattr(handler, name)) is not _IgnoredEvents:
            setattr(handler, name, _IgnoredEvents(ignored))
