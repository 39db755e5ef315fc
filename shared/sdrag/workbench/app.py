"""
The workbench: what it looks at, a method for each request, and the routes to them.

A request is read within its limits, and what it asks for is done on a thread by
`Workers`. Errors of ours become one sentence, which quotes no text. Nothing is written
to a disk.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from sdrag.errors import SdragError
from sdrag.explanation.marked import style
from sdrag.policy import Policy
from sdrag.vocabulary import Confidential, Passage
from sdrag.workbench.bodies import (
    MAX_UPLOAD_BYTES,
    SECONDS,
    SECONDS_FOR_ALL,
    Workers,
    body_of,
    read_json,
)
from sdrag.workbench.documents import Folder, LoadedDocuments
from sdrag.workbench.gate import Gate, RefusedError
from sdrag.workbench.looking import Colouring, Questions, find_links
from sdrag.workbench.policy import Shape, Viewing, describe, policy_of

M = TypeVar("M", bound=BaseModel)
Handler = Callable[[Request], Awaitable[Response]]

SAMPLE = "constraints:\n  - Remove names of witnesses\n"
"""What the editor shows where no policy was given."""

_STATIC = files("sdrag.workbench").joinpath("static")
_KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_LONGEST_NAME = 200


class Explaining(Viewing):
    """A document to be coloured, by its number."""

    document: Annotated[int, Field(ge=0)]


class Asking(Viewing):
    """A question to all loaded documents."""

    question: Annotated[str, Field(min_length=1, max_length=2_000, repr=False)]


class Forgetting(Shape):
    """A document that is not looked at any more, by its number."""

    document: Annotated[int, Field(ge=0)]


class Opening(Shape):
    """A file of the given folder, as it was listed."""

    path: Annotated[str, Field(min_length=1, max_length=1_000)]


class Workbench(Confidential):
    """
    What one workbench looks at, and does for its page.

    Args:
        policy_file: Whose text the editor starts with.
        policy_text: That text, right or wrong.
        folder: Of documents that may be opened.
    """

    def __init__(
        self,
        policy_file: Path | None = None,
        policy_text: str = SAMPLE,
        folder: Folder | None = None,
    ) -> None:
        self.policy_file = policy_file
        self.policy_text = policy_text
        self.folder = folder
        self.documents = LoadedDocuments()
        self.colouring = Colouring()
        self.questions = Questions()

    def start(self) -> dict[str, Any]:
        """Return what the page begins with."""
        names, more = self.folder.names() if self.folder else ([], False)
        return {
            "policy": self.policy_text,
            "policy_name": self.policy_file.name if self.policy_file else "policy.yaml",
            "files": names,
            "more_files": more,
            "documents": _listed(self.documents.all()),
        }

    def drop(self, name: str, data: bytes) -> dict[str, Any]:
        """Load a file that was dropped or pasted."""
        return self._add(name, data, dropped=True)

    def open(self, asked: Opening) -> dict[str, Any]:
        """Load a file of the folder."""
        if self.folder is None:
            raise RefusedError(404, "No folder was given with --documents.")
        return self._add(asked.path, self.folder.read(asked.path), dropped=False)

    def _add(self, name: str, data: bytes, *, dropped: bool) -> dict[str, Any]:
        added, remarks = self.documents.add(name, data, dropped=dropped)
        return {"documents": _listed(added), "remarks": list(remarks)}

    def forget(self, asked: Forgetting) -> dict[str, Any]:
        """Forget a document."""
        self.documents.remove(asked.document)
        return {}

    def describe(self, asked: Viewing) -> dict[str, Any]:
        """Say what a policy means that is being typed."""
        return describe(asked.policy)

    def explain(self, asked: Explaining) -> dict[str, Any]:
        """Colour a document."""
        document, policy = self.documents.get(asked.document), policy_of(asked)
        return self.colouring.colour(policy, asked.document, document, asked.roles)

    def ask(self, asked: Asking) -> dict[str, Any]:
        """Say what a hijacked model would receive."""
        documents, policy = self.documents.all(), policy_of(asked)
        return self.questions.ask(policy, documents, asked.question, asked.roles)

    def link(self, asked: Viewing) -> dict[str, Any]:
        """Say what links the documents."""
        return find_links(policy_of(asked), list(self.documents.all().values()))

    def report(self, asked: Viewing) -> dict[str, Any]:
        """Return the page that `sdrag preview` writes."""
        documents = self.documents.all()
        if not documents:
            raise RefusedError(422, "There is no document to report on.")
        page = self.colouring.report(policy_of(asked), documents, asked.roles)
        return {"page": page}

    def warm_up(self) -> None:
        """Load the models before somebody waits for them."""
        text = "The witness Mara Whitlock left at noon."
        policy = Policy.read({"constraints": ["Remove names", "How it was opened"]})
        document = Passage("warm-up", text, document_id="warm-up")
        Colouring().explain(policy, 0, document, ())


def _listed(documents: Mapping[int, Passage]) -> list[dict[str, Any]]:
    return [
        {"number": number, "name": document.id, "characters": len(document.text)}
        for number, document in documents.items()
    ]


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
        "/api/forget": _handler(bench.forget, Forgetting, workers),
        "/api/open": _handler(bench.open, Opening, workers),
        "/api/policy": _handler(bench.describe, Viewing, workers),
        "/api/explain": _handler(bench.explain, Explaining, workers),
        "/api/ask": _handler(bench.ask, Asking, workers),
        "/api/link": _handler(bench.link, Viewing, workers, SECONDS_FOR_ALL),
        "/api/report": _handler(bench.report, Viewing, workers, SECONDS_FOR_ALL),
    }

    async def start(_: Request) -> Response:
        return JSONResponse(await workers.run(bench.start))

    public = _public_files()
    routes = [Route(path, call, methods=["GET"]) for path, call in public.items()]
    routes.append(Route("/api/start", start, methods=["GET"]))
    routes += [Route(path, call, methods=["POST"]) for path, call in posts.items()]
    # A bare router: an application of Starlette would answer errors, and log them.
    return Gate(Router(routes), token=token, port=port, public=public)


def _public_files() -> Mapping[str, Handler]:
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


def _handler(
    work: Callable[[M], dict[str, Any]],
    model: type[M],
    workers: Workers,
    seconds: float = SECONDS,
) -> Handler:
    """Return a handler that reads what is asked for, and does it on a thread."""

    async def handle(request: Request) -> Response:
        asked = await read_json(request, model)
        return await _respond(partial(work, asked), workers, seconds)

    return handle


async def _drop(bench: Workbench, workers: Workers, request: Request) -> Response:
    try:
        name = unquote(request.headers.get("x-file-name", ""), errors="strict")
    except UnicodeDecodeError:
        name = ""
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise RefusedError(400, "The file has no usable name.")
    data = await body_of(request, MAX_UPLOAD_BYTES)
    return await _respond(partial(bench.drop, name, data), workers, SECONDS)


async def _respond(
    work: Callable[[], dict[str, Any]], workers: Workers, seconds: float
) -> Response:
    started = time.perf_counter()
    try:
        result = await workers.run(work, seconds)
    except SdragError as error:
        raise RefusedError(422, str(error)) from None
    spent = round(time.perf_counter() - started, 3)
    return JSONResponse({**result, "seconds": spent})
