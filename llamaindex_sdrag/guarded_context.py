"""
The context of a workflow, as a guarded tool sees it.

LlamaIndex hands a tool the context of the workflow, by which it writes events to the
stream, sends events to other steps, waits for a human and changes the state that is
kept between runs. A guarded tool gets this context instead.

- Events are kept back until the tool ends, when all of them are redacted at once.
- What is written to the state is redacted; what is read from it is a copy.
- A tool can wait for a human. Its question is redacted when the tool stops.
- Everything else of the context is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from copy import deepcopy
from typing import Any, NoReturn

from llama_index.core.workflow import Context, Event
from pydantic import BaseModel
from workflows.runtime.types.results import (
    AddWaiter,
    InternalContextVar,
    WaitingForEvent,
)

from sdrag.errors import UsageError
from sdrag.text.values import rewrite_value
from sdrag.value_redactor import ValueRedactor

__all__ = ["GuardedContext", "asked", "guarded_steps", "waiting_again"]


class GuardedContext(Context):
    """
    Stands in for a context during one call of a tool.

    Args:
        inner: The context.
        values: Redacts what is written.
    """

    def __init__(self, inner: Any, values: ValueRedactor) -> None:
        self._inner = inner
        self._values = values
        self._written: list[tuple[Callable[..., None], tuple[Any, ...]]] = []

    def __getattribute__(self, name: str) -> Any:
        """Refuse what this class does not guard."""
        if name.startswith("_") or name in vars(GuardedContext):
            return super().__getattribute__(name)
        raise UsageError(f"The context of a guarded tool has no `{name}`.")

    def __repr__(self) -> str:
        return "GuardedContext()"

    @property
    def is_running(self) -> bool:
        """Whether the workflow is running, which a tool is a part of."""
        return True

    @property
    def store(self) -> Any:
        """The state of the workflow; what is written to it is redacted."""
        return _GuardedState(self._inner.store, self._values)

    def write_event_to_stream(self, ev: Event | None) -> None:
        """Keep an event for the stream until the tool ends."""
        if ev is not None:
            self._written.append((self._inner.write_event_to_stream, (ev,)))

    def send_event(self, message: Event, step: str | None = None) -> None:
        """Keep an event for another step until the tool ends."""
        self._written.append((self._inner.send_event, (message, step)))

    async def wait_for_event(self, *args: Any, **kwargs: Any) -> Any:
        """Wait for an event of the human's; see `asked`."""
        return await self._inner.wait_for_event(*args, **kwargs)

    def flush_written(self) -> None:
        """Send what the tool wrote, redacted."""
        taken, self._written = self._written, []
        if taken:
            _send(taken, self._values.redact([parts[0] for _, parts in taken]))

    async def aflush_written(self) -> None:
        """Send it without blocking the event loop."""
        taken, self._written = self._written, []
        if taken:
            _send(taken, await self._values.aredact([parts[0] for _, parts in taken]))


class _GuardedState:
    """The state of a workflow, as a guarded tool sees it."""

    def __init__(self, inner: Any, values: ValueRedactor) -> None:
        self._inner = inner
        self._values = values

    def __repr__(self) -> str:
        return "GuardedState()"

    async def get_state(self) -> Any:
        """Return a copy of the state."""
        return _copy(await self._inner.get_state())

    async def get(self, path: str, default: Any = ...) -> Any:
        """Return a copy of a value."""
        return _copy(await self._inner.get(path, default))

    async def set(self, path: str, value: Any) -> None:
        """Write what may be disclosed of a value."""
        released = await self._values.aredact({"path": path, "value": value})
        if released.get("path") != path:
            raise UsageError(
                "A guarded tool writes to a path that may not be disclosed.",
                hint="Name entries by ids that say nothing.",
            )
        await self._inner.set(path, released.get("value"))

    async def clear(self) -> None:
        """Empty the state."""
        await self._inner.clear()

    @asynccontextmanager
    async def edit_state(self) -> AsyncIterator[Any]:
        """
        Let the tool edit a copy; of what it changed, write what may be disclosed.

        Raises:
            UsageError: It changed an object, or used a name, that cannot be redacted.
        """
        async with self._inner.edit_state() as state:
            entries = _entries(state)
            for name, value in entries.items():
                setattr(state, name, _copy(value))
            before = {name: _plain(value) for name, value in entries.items()}
            yield state
            changed = {
                name: value
                for name, value in _entries(state).items()
                if name not in before or _plain(value) != before[name]
            }
            for name, value in entries.items():
                if name in _entries(state):
                    setattr(state, name, value)
            new = [name for name in changed if name not in entries]
            values = list(_checked(changed, entries).values())
            names, released = await self._values.aredact([new, values])
            if names != new:
                raise UsageError(
                    "A guarded tool names an entry by what may not be disclosed.",
                    hint="Name entries by ids that say nothing.",
                )
            for name, value in zip(changed, released, strict=True):
                setattr(state, name, value)

    def __getattr__(self, name: str) -> NoReturn:
        raise UsageError(f"The state of a guarded tool has no `{name}`.")


@contextmanager
def guarded_steps(values: ValueRedactor) -> Iterator[GuardedContext | None]:
    """
    Guard the context that any code of the current step can ask for.

    Yields:
        The context, or nothing outside of a workflow.
    """
    current = InternalContextVar.get(None)
    inner = current() if current is not None else None
    if inner is None:
        yield None
        return
    guarded = (
        inner if isinstance(inner, GuardedContext) else GuardedContext(inner, values)
    )
    token = InternalContextVar.set(lambda: guarded)  # type: ignore[arg-type]
    try:
        yield guarded
    finally:
        InternalContextVar.reset(token)


def asked(waiting: WaitingForEvent[Any]) -> list[Any]:
    """Return what a tool shows that waits for a human: its question and filters."""
    add = waiting.add
    return [add.waiter_event, _own_id(add), add.requirements]


def waiting_again(
    waiting: WaitingForEvent[Any], released: list[Any]
) -> WaitingForEvent[Any]:
    """
    Return the signal with a redacted question.

    Raises:
        UsageError: A filter or the id of the question may not be disclosed; changed,
            neither would find the answer.
    """
    event, *filters = released
    add = waiting.add
    if filters != [_own_id(add), add.requirements]:
        raise UsageError(
            "A guarded tool waits for an answer by what may not be disclosed.",
            hint="Pass a `waiter_id` and `requirements` that say nothing.",
        )
    return WaitingForEvent(add.model_copy(update={"waiter_event": event}))


def _own_id(add: AddWaiter[Any]) -> str:
    """Return the id that the tool gave; the workflow makes others of the filters."""
    kind = add.event_type
    made = f"waiter_{kind.__module__}.{kind.__name__}_"
    return "" if add.waiter_id.startswith(made) else add.waiter_id


def _send(taken: list[Any], released: list[Any]) -> None:
    for (send, (_, *rest)), event in zip(taken, released, strict=True):
        send(event, *rest)


def _entries(state: Any) -> dict[str, Any]:
    """Return the declared fields and the dynamic entries of a state."""
    declared = {name: getattr(state, name) for name in type(state).model_fields}
    return declared | dict(state.items() if hasattr(state, "items") else ())


def _copy(value: Any) -> Any:
    """Return a copy, or nothing: the tool could write text to a shared object."""
    with suppress(Exception):
        return deepcopy(value)
    return None


def _plain(value: Any) -> Any:
    """Return the texts and numbers of a value, to see if it changed."""
    return rewrite_value(value, str, withheld="", rebuild=lambda *_: NotImplemented)


def _checked(changed: dict[str, Any], entries: dict[str, Any]) -> dict[str, Any]:
    for name in changed:
        if isinstance(entries.get(name), BaseModel):
            kind = type(entries[name]).__name__
            raise UsageError(
                f"A guarded tool changed a {kind} of the state, which is not redacted.",
                hint="Let the agent write to it, and the tool return what it found.",
            )
    return changed
