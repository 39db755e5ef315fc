"""
How many requests are answered at the same time, for how long, and what a fault shows.

A request holds a slot from its first byte to the last one of its answer: whoever has
read that may ask again. Where no slot is free, the answer is 503 at once: a queue would
only make everybody late. A request that is cut off, by its client or by the clock,
gives its slot back. An error that nobody expected is logged by its type. Its message
may quote text, so nobody sees it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from dataclasses import dataclass
from time import perf_counter

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_service.metrics import REQUESTS, RUNNING, SECONDS

logger = logging.getLogger("rag_service")


@dataclass(slots=True)
class Slots:
    """The slots of one process; its event loop alone counts them."""

    size: int
    taken: int = 0

    @property
    def free(self) -> bool:
        return self.taken < self.size

    def take(self) -> Slot:
        self.taken += 1
        RUNNING.inc()
        return Slot(self)


class Slot:
    """A slot that one request holds."""

    def __init__(self, slots: Slots) -> None:
        self._slots: Slots | None = slots

    def give_back(self) -> None:
        """Give it back, once."""
        if self._slots is not None:
            self._slots.taken -= 1
            RUNNING.dec()
            self._slots = None


def refused(status: int, error: str) -> JSONResponse:
    """Say why there is no answer, in a code; 503 says when to come again."""
    headers = {"retry-after": "1"} if status == 503 else None
    return JSONResponse({"error": error}, status, headers)


class Gate:
    """
    Admit a request to some paths.

    Args:
        app: What answers.
        slots: That requests hold.
        paths: That are guarded; the others are always admitted.
        seconds: How long a request may take.
    """

    def __init__(
        self, app: ASGIApp, slots: Slots, paths: Collection[str], seconds: float
    ) -> None:
        self.app, self.slots, self.paths = app, slots, paths
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in self.paths:
            await self.app(scope, receive, send)
            return
        answer, start = _Sent(send), perf_counter()
        try:
            if self.slots.free:
                await self._admitted(scope, receive, answer)
            else:
                await refused(503, "full")(scope, receive, answer)
        finally:
            REQUESTS.labels(scope["path"], answer.outcome).inc()
            SECONDS.labels(scope["path"]).observe(perf_counter() - start)

    async def _admitted(self, scope: Scope, receive: Receive, answer: _Sent) -> None:
        answer.slot = self.slots.take()
        try:
            async with asyncio.timeout(self.seconds):
                await self.app(scope, receive, answer)
        except TimeoutError:
            await answer.instead(refused(504, "too-slow"), scope, receive)
        except Exception as error:  # noqa: BLE001 -- the server would log its text
            logger.error("A request failed with %s.", type(error).__name__)  # noqa: TRY400 -- a traceback quotes text
            await answer.instead(refused(500, "failed"), scope, receive)
        finally:
            answer.slot.give_back()


class _Sent:
    """Sends an answer, knows how far it came, and gives its slot back at its end."""

    def __init__(self, send: Send) -> None:
        self.slot: Slot | None = None
        self._send = send
        self._status: int | None = None
        self._ended = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
        else:
            self._ended = not message.get("more_body", False)
        await self._send(message)
        if self._ended and self.slot is not None:
            self.slot.give_back()

    @property
    def outcome(self) -> str:
        """The status, or that the answer was cut off."""
        return str(self._status) if self._ended else "cut-off"

    async def instead(
        self, response: JSONResponse, scope: Scope, receive: Receive
    ) -> None:
        """Send another answer, unless one has begun."""
        if self._status is None:
            await response(scope, receive, self)
