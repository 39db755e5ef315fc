"""
The HTTP service; which framework answers is its caller's choice.

An answer has two parts. First the passages are retrieved and the model's first words
are waited for: what fails until then is an error with a status. Then the answer is
streamed, one JSON object a line. The last line says `done`; without it the answer broke
off.
"""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Protocol

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from rag_service.cancelling import while_connected
from rag_service.gate import Gate, Slots, logger, refused
from rag_service.identity import UnknownCallerError, principal_of
from rag_service.metrics import exposition
from rag_service.settings import Settings
from sdrag import Principal, acting_as, stream_as
from sdrag.errors import HostError, ModelError, SdragError


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that may be shown."""

    source: str
    text: str


class Answerer(Protocol):
    """What a framework does for the service."""

    async def retrieve(self, question: str) -> Sequence[Found]:
        """Return what the caller may see."""
        ...

    def answer(self, question: str, passages: Sequence[Found]) -> AsyncIterator[str]:
        """Stream an answer made of these passages."""
        ...


class Question(BaseModel):
    """The body of a request."""

    question: str = Field(min_length=1, max_length=2000)


class ModelFailedError(Exception):
    """The model did not answer; why is in its own logs."""


async def caller_of(request: Request) -> Principal:
    """Authenticate the caller; async, so that it takes no thread."""
    key = request.app.state.settings.key
    return principal_of(request.headers.get("authorization"), key)


Caller = Annotated[Principal, Depends(caller_of)]


def create_app(
    opened: Callable[[Settings], Answerer], settings: Settings | None = None
) -> FastAPI:
    """
    Make the service.

    Args:
        opened: Opens what answers, once a process; an error of it stops the process.
        settings: Those of the environment by default.
    """
    settings = settings or Settings.from_environment()
    slots = Slots(settings.slots)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.answerer = await asyncio.to_thread(opened, settings)
        gc.collect()
        gc.freeze()  # what lives as long as the process is not looked at again
        yield
        gc.unfreeze()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.settings = settings
    app.add_middleware(
        Gate, slots=slots, paths={"/passages", "/answer"}, seconds=settings.seconds
    )
    _say_no(app)

    @app.post("/passages")
    async def read_passages(
        body: Question, caller: Caller, request: Request
    ) -> list[Found]:
        """Return what the caller may see of what the question finds."""
        work = _passages(request.app.state.answerer, body.question, caller)
        return list(await while_connected(request, work))

    @app.post("/answer")
    async def read_answer(
        body: Question, caller: Caller, request: Request
    ) -> StreamingResponse:
        """Stream an answer."""
        work = _begun(request.app.state.answerer, body.question, caller)
        lines = await while_connected(request, work)
        return StreamingResponse(lines, media_type="application/x-ndjson")

    @app.get("/health/live")
    async def read_live() -> str:
        """Say that the process runs."""
        return "live"

    @app.get("/health/ready")
    async def read_ready() -> Response:
        """Say whether a request would be answered now."""
        return Response("ready") if slots.free else refused(503, "full")

    @app.get("/metrics")
    async def read_metrics() -> Response:
        """Return counts for Prometheus."""
        return Response(exposition(), media_type="text/plain; version=0.0.4")

    return app


async def _passages(
    answerer: Answerer, question: str, caller: Principal
) -> Sequence[Found]:
    with acting_as(caller):
        return await answerer.retrieve(question)


async def _begun(
    answerer: Answerer, question: str, caller: Principal
) -> AsyncIterator[str]:
    """Retrieve, wait for the first words, and return the lines of the answer."""
    passages = await _passages(answerer, question, caller)
    words = stream_as(caller, answerer.answer, question, passages)
    try:
        first = await anext(words, "")
    except Exception as error:  # noqa: BLE001 -- whatever a model's client raises
        logger.warning("The model failed with %s.", type(error).__name__)
        raise ModelFailedError from None
    return _lines(first, words, [passage.source for passage in passages])


async def _lines(
    first: str, words: AsyncIterator[str], sources: list[str]
) -> AsyncIterator[str]:
    async with aclosing(words):  # type: ignore[type-var]  # a stream can be closed
        yield _line(text=first)
        try:
            async for text in words:
                yield _line(text=text)
        except Exception as error:  # noqa: BLE001 -- the status is sent already
            logger.warning("The model failed with %s.", type(error).__name__)
            yield _line(error="model-failed")
            return
        yield _line(done=True, sources=sources)


def _line(**said: object) -> str:
    return json.dumps(said, ensure_ascii=False) + "\n"


def _say_no(app: FastAPI) -> None:
    """Answer errors with a status and a code, never with a text."""
    answers = {
        UnknownCallerError: (401, "unknown-caller"),
        RequestValidationError: (422, "not-a-question"),
        HostError: (502, "retrieval-failed"),
        ModelError: (502, "model-failed"),
        ModelFailedError: (502, "model-failed"),
        SdragError: (500, "withheld"),
        ClientDisconnect: (499, "client-gone"),
    }
    for error, (status, code) in answers.items():

        async def answer(
            _request: Request,
            _error: Exception,
            status: int = status,
            code: str = code,
        ) -> Response:
            return refused(status, code)

        app.add_exception_handler(error, answer)
