"""
The workbench as an application: its routes, one short function each.

A request is read within its limits, and what it asks for is done on a thread by
`Workers`. Errors of ours become one sentence, which quotes no text.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from sdrag.errors import SdragError
from sdrag.html.marked import style
from sdrag.workbench.bench import Workbench
from sdrag.workbench.bodies import body_of, read_json
from sdrag.workbench.gate import Gate
from sdrag.workbench.limits import MAX_UPLOAD_BYTES, SECONDS, SECONDS_FOR_ALL
from sdrag.workbench.refusals import RefusedError
from sdrag.workbench.requests import (
    Asking,
    Explaining,
    Forgetting,
    Opening,
    Reporting,
    Typed,
    Viewing,
)
from sdrag.workbench.workers import Workers

__all__ = ["build_app"]

M = TypeVar("M", bound=BaseModel)
Handler = Callable[[Request], Awaitable[Response]]

_STATIC = files("sdrag.workbench").joinpath("static")
_KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_LONGEST_NAME = 200


def build_app(bench: Workbench, *, token: str, port: int) -> ASGIApp:
    """
    Build the application.

    Args:
        bench: What it looks at.
        token: That every request has to bring, but for the page's own files.
        port: On which it listens.
    """
    workers = Workers()
    posts: dict[str, Handler] = {
        "/api/documents": partial(_drop, bench, workers),
        "/api/forget": _doing(bench.forget, Forgetting, workers),
        "/api/open": _doing(bench.open, Opening, workers),
        "/api/policy": _doing(bench.describe, Typed, workers),
        "/api/sensitivity": _doing(bench.set_sensitivity, Viewing, workers),
        "/api/explain": _doing(bench.explain, Explaining, workers),
        "/api/ask": _doing(bench.ask, Asking, workers),
        "/api/link": _doing(bench.link, Typed, workers, SECONDS_FOR_ALL),
        "/api/report": _doing(bench.report, Reporting, workers, SECONDS_FOR_ALL),
    }

    async def start(_: Request) -> Response:
        return JSONResponse(await workers.run(bench.start))

    own = _own_files()
    routes = [Route(path, handler, methods=["GET"]) for path, handler in own.items()]
    routes.append(Route("/api/start", start, methods=["GET"]))
    routes += [Route(path, call, methods=["POST"]) for path, call in posts.items()]
    # A bare router: an application of Starlette would answer errors, and log them.
    return Gate(Router(routes), token=token, port=port, public=own)


def _own_files() -> Mapping[str, Handler]:
    """Return the page's files by path: a closed table, so no path leads elsewhere."""
    marks = style().encode("utf-8")
    handlers: dict[str, Handler] = {"/marked.css": partial(_file, marks, "text/css")}
    for entry in _STATIC.iterdir():
        kind = _KINDS.get(Path(entry.name).suffix)
        if kind is not None:
            path = "/" if entry.name == "index.html" else f"/{entry.name}"
            handlers[path] = partial(_file, entry.read_bytes(), kind)
    return handlers


async def _file(content: bytes, kind: str, _: Request) -> Response:
    return Response(content, media_type=kind)


def _doing(
    work: Callable[[M], dict[str, Any]],
    model: type[M],
    workers: Workers,
    seconds: float = SECONDS,
) -> Handler:
    """Return a handler that reads what is asked for, and does it on a thread."""

    async def handle(request: Request) -> Response:
        asked = await read_json(request, model)
        return await _done(partial(work, asked), workers, seconds)

    return handle


async def _drop(bench: Workbench, workers: Workers, request: Request) -> Response:
    try:
        name = unquote(request.headers.get("x-file-name", ""), errors="strict")
    except UnicodeDecodeError:
        name = ""
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise RefusedError(400, "The file has no usable name.")
    data = await body_of(request, MAX_UPLOAD_BYTES)
    return await _done(partial(bench.drop, name, data), workers, SECONDS)


async def _done(
    work: Callable[[], dict[str, Any]], workers: Workers, seconds: float
) -> Response:
    started = time.perf_counter()
    try:
        result = await workers.run(work, seconds)
    except SdragError as error:
        raise RefusedError(422, str(error)) from None
    spent = round(time.perf_counter() - started, 3)
    return JSONResponse({**result, "seconds": spent})
