"""
What one request may bring, take and cost: its body, its time, its thread.

A body that says it is too large is refused before a byte of it is read; one that does
not say so, when it becomes too large. Work is done on a few threads, some more waits,
and what comes then is refused. Nobody waits for work that is over its time. It keeps
its slot until it ends, so a page that asks again and again starts no more than there
are slots.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect, Request

from sdrag.policy import MAX_POLICY_BYTES
from sdrag.privacy.log_privacy import suppress_logs
from sdrag.studio.workbench.gate import RefusedError
from sdrag.vocabulary import Sensitivity

T = TypeVar("T")

MAX_JSON_BYTES = 4_000_000
"""Of a request that holds a policy."""

MAX_UPLOAD_BYTES = 20_000_000
"""Of one file that is dropped on the page."""

SLOTS = 2
"""So many requests are worked on at the same time."""

WAITING = 16
"""So many more wait for a slot; what comes then is refused."""

SECONDS = 300.0
"""What one request may take."""

Role = Annotated[str, Field(min_length=1, max_length=100)]


class RequestBody(BaseModel):
    """
    What a request asks for: frozen, closed to unknown keys, and quoted in no error.

    Args:
        policy: As it is in the editor, right or wrong.
        sensitivity: Of the slider; the policy's own when missing.
        roles: Of who looks; nobody in particular when empty.
        path: A file of the given folder, as it was listed.
        other: A policy to compare with; nothing is compared without one.
        constraint: Which one is edited, from 0; to `enable` it, its line from 1.
        step: Where it is moved: -1 up, 1 down.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    policy: Annotated[str, Field(max_length=MAX_POLICY_BYTES, repr=False)] = ""
    sensitivity: Sensitivity | None = None
    roles: Annotated[tuple[Role, ...], Field(max_length=20)] = ()
    document: Annotated[int, Field(ge=0)] = 0
    question: Annotated[str, Field(max_length=2_000, repr=False)] = ""
    path: Annotated[str, Field(max_length=1_000)] = ""
    other: Annotated[str, Field(max_length=MAX_POLICY_BYTES, repr=False)] = ""
    change: Literal["add", "move", "disable", "enable", "stay", "go", "weigh"] = "add"
    constraint: Annotated[int, Field(ge=0)] = 0
    weight: Sensitivity | None = None
    step: Literal[-1, 1] = 1
    sentence: Annotated[str, Field(max_length=1_000, repr=False)] = ""
    words: Annotated[str, Field(max_length=200, repr=False)] = ""


async def body_of(request: Request, most: int) -> bytes:
    """Return the body of a request; refuse one of more bytes, or that is cut off."""
    too_large = RefusedError(413, f"More than {most:,} bytes are not taken.")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > most:
        raise too_large
    data = bytearray()
    try:
        async for part in request.stream():
            data += part
            if len(data) > most:
                raise too_large
    except ClientDisconnect:
        raise RefusedError(400, "The request was cut off.") from None
    return bytes(data)


async def read_json(request: Request) -> RequestBody:
    """Return what a request asks for; refuse what is no JSON, or of another shape."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(415, "Send JSON.")
    data = await body_of(request, MAX_JSON_BYTES)
    try:
        value = json.loads(data.decode("utf-8"))
        # A lone surrogate can be written in JSON, and is no text that could be stored.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise RefusedError(400, "The request is not UTF-8.") from None
    except (ValueError, RecursionError):
        raise RefusedError(400, "The request is no JSON.") from None
    try:
        return RequestBody.model_validate(value)
    except ValidationError:
        raise RefusedError(422, "The request is not as it must be.") from None


class Workers:
    """Runs functions on threads: so many at once, and so many more wait."""

    def __init__(self, slots: int = SLOTS, waiting: int = WAITING) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._space = slots + waiting

    async def run(self, work: Callable[[], T], seconds: float = SECONDS) -> T:
        """Run a function on a thread, and wait for it so long from its start."""
        if not self._space:
            raise RefusedError(503, "There is too much to do. Try again in a moment.")
        self._space -= 1
        try:
            await self._slots.acquire()
        except BaseException:
            self._space += 1
            raise
        task = asyncio.ensure_future(asyncio.to_thread(_without_logs, work))
        task.add_done_callback(self._free_slot)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            raise RefusedError(
                503, f"This took longer than {seconds:.0f} seconds. Try a shorter text."
            )
        return task.result()

    def _free_slot(self, task: asyncio.Task[T]) -> None:
        self._slots.release()
        self._space += 1
        if not task.cancelled():
            task.exception()  # read, or asyncio logs it with all that it quotes


def _without_logs(work: Callable[[], T]) -> T:
    with suppress_logs():
        return work()
