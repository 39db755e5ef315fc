"""
The workbench: what it looks at, a method for each request, and the routes to them.

A request is read within its limits, and what it asks for is done on a thread by
`Workers`. Errors of ours become one sentence, which quotes no text. Nothing is written
to a disk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from sdrag.errors import SdragError
from sdrag.explanation.explanations import style
from sdrag.policy import Policy
from sdrag.studio.authoring import policy_text
from sdrag.studio.authoring.edits import let_stay, make_go
from sdrag.studio.documents import UnreadableError, bytes_of, list_files
from sdrag.studio.reports.preview import Preview, render_preview
from sdrag.studio.workbench.bodies import (
    MAX_UPLOAD_BYTES,
    RequestBody,
    Workers,
    body_of,
    read_json,
)
from sdrag.studio.workbench.documents import SUFFIXES, LoadedDocuments
from sdrag.studio.workbench.gate import Gate, RefusedError
from sdrag.studio.workbench.looking import Colouring, Questions, find_links, preview_of
from sdrag.studio.workbench.policy import describe_text, policy_of
from sdrag.vocabulary import Confidential, Passage

Handler = Callable[[Request], Awaitable[Response]]

SAMPLE = "constraints:\n  - Remove names of witnesses\n"
"""What the editor shows where no policy was given."""

_STATIC = files("sdrag.studio.workbench").joinpath("static")
_KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_LONGEST_NAME = 200


class Workbench(Confidential):
    """What one workbench looks at, and does for its page; the policy may be wrong."""

    def __init__(
        self,
        policy_file: Path | None = None,
        policy_text: str | None = None,
        folder: Path | None = None,
    ) -> None:
        self.policy_name = policy_file.name if policy_file else "policy.yaml"
        self.policy_text = SAMPLE if policy_text is None else policy_text
        self.folder = folder
        self.files: dict[str, Path] = {}
        self.documents = LoadedDocuments()
        self.colouring = Colouring()
        self.questions = Questions()

    def start(self) -> dict[str, Any]:
        """Return what the page begins with, and list the folder anew."""
        if self.folder is not None:
            listed = list_files(self.folder)
            self.files = {n: p for n, p in listed if n.lower().endswith(SUFFIXES)}
        return {
            "policy": self.policy_text,
            "policy_name": self.policy_name,
            "files": list(self.files),
            "documents": _list_documents(self.documents.all()),
        }

    def drop(self, name: str, data: bytes) -> dict[str, Any]:
        """Load a file that was dropped or pasted."""
        added, remarks = self.documents.add(name, data)
        return {"documents": _list_documents(added), "remarks": list(remarks)}

    def open(self, asked: RequestBody) -> dict[str, Any]:
        """Load a file of the folder; a path is looked up and never put together."""
        path = self.files.get(asked.path)
        if path is None or self.folder is None:
            raise RefusedError(404, "There is no such file in the folder.")
        try:
            data = bytes_of(path, self.folder)
        except UnreadableError as error:
            raise RefusedError(422, f"The file {error}.") from None
        return self.drop(asked.path, data)

    def forget(self, asked: RequestBody) -> dict[str, Any]:
        """Forget a document."""
        self.documents.remove(asked.document)
        return {}

    def describe(self, asked: RequestBody) -> dict[str, Any]:
        """Say what a policy means that is being typed."""
        return describe_text(asked.policy)

    def explain(self, asked: RequestBody) -> dict[str, Any]:
        """Colour a document; with another policy, what changes in it."""
        document, number = self.documents.get(asked.document), asked.document
        policy, roles = _policy(asked), asked.roles
        if asked.other:
            other = policy_of(asked.other, None)
            return self.colouring.compare((policy, other), number, document, roles)
        return self.colouring.colour(policy, number, document, roles)

    def report(self, asked: RequestBody) -> dict[str, Any]:
        """Return the page of all documents, as `sdrag preview --html` writes it."""
        documents, policy = self.documents.all(), _policy(asked)
        if not documents:
            raise RefusedError(422, "There is no document. Load one first.")
        explanations = [
            explanation
            for number, document in documents.items()
            for explanation in self.colouring.explain(
                policy, number, document, asked.roles
            )
        ]
        preview = preview_of(policy, explanations, len(documents))
        return {"html": render_preview(preview)}

    def edit(self, asked: RequestBody) -> dict[str, Any]:
        """Edit the policy by one of its sentences, or by words of a document."""
        policy, number, words = asked.policy, asked.constraint, asked.words.strip()
        if asked.change in {"stay", "go"}:
            if not any(map(str.isalnum, words)):
                raise RefusedError(422, "Select words of the document.")
            change = let_stay if asked.change == "stay" else make_go
            documents = [self.documents.get(asked.document)]
            changed, (note,) = change(policy, [words], documents)
            return {"policy": changed, "note": f"\u201c{words}\u201d: {note}."}
        work = {
            "add": lambda: policy_text.add(policy, asked.sentence),
            "move": lambda: policy_text.move(policy, number, asked.step),
            "disable": lambda: policy_text.disable(policy, number),
            "enable": lambda: policy_text.enable(policy, number),
            "weigh": lambda: policy_text.set_value(
                policy, number, "sensitivity", asked.weight
            ),
        }
        changed = work[asked.change]()
        note = self._weigh(asked, changed) if asked.change == "weigh" else ""
        return {"policy": changed, "note": note}

    def _weigh(self, asked: RequestBody, changed: str) -> str:
        """Say how many words more, and fewer, a changed policy hides."""
        policies = policy_of(asked.policy, None), policy_of(changed, None)
        here, there = (
            [
                explanation
                for number, document in self.documents.all().items()
                for explanation in self.colouring.explain(
                    policy, number, document, asked.roles
                )
            ]
            for policy in policies
        )
        changes = Preview({}, explanations=here, others=there).count_changes()
        fewer, more, _ = changes.values()
        return f"In the documents {more} words more are hidden, {fewer} fewer."

    def ask(self, asked: RequestBody) -> dict[str, Any]:
        """Say what a hijacked model would receive."""
        documents, policy = self.documents.all(), _policy(asked)
        return self.questions.ask(policy, documents, asked.question, asked.roles)

    def link(self, asked: RequestBody) -> dict[str, Any]:
        """Say what links the documents."""
        return find_links(_policy(asked), self.documents.all())

    def warm_up(self) -> None:
        """Load the models before somebody waits for them."""
        text = "The witness Mara Whitlock left at noon."
        policy = Policy.read({"constraints": ["Remove names", "How it was opened"]})
        document = Passage("warm-up", text, document_id="warm-up")
        Colouring().explain(policy, 0, document, ())


def _policy(asked: RequestBody) -> Policy:
    return policy_of(asked.policy, asked.sensitivity)


def _list_documents(documents: Mapping[int, Passage]) -> list[dict[str, Any]]:
    return [
        {"number": number, "name": document.id, "characters": len(document.text)}
        for number, document in documents.items()
    ]


def build_app(bench: Workbench, *, token: str, port: int) -> ASGIApp:
    """Build the application; only the page's own files need no token."""
    workers = Workers()
    posts = {
        "forget": bench.forget,
        "open": bench.open,
        "policy": bench.describe,
        "explain": bench.explain,
        "report": bench.report,
        "edit": bench.edit,
        "ask": bench.ask,
        "link": bench.link,
    }

    async def start(_: Request) -> Response:
        return await _respond(bench.start, workers)

    public = _public_files()
    routes = [Route(path, call, methods=["GET"]) for path, call in public.items()]
    drop = partial(_drop, bench, workers)
    routes.append(Route("/api/start", start, methods=["GET"]))
    routes.append(Route("/api/documents", drop, methods=["POST"]))
    routes += [
        Route(f"/api/{name}", partial(_handle, work, workers), methods=["POST"])
        for name, work in posts.items()
    ]
    # A bare router: an application of Starlette would answer errors, and log them.
    return Gate(Router(routes), token=token, port=port, public=public)


def _public_files() -> Mapping[str, Handler]:
    """Return the page's files by path: a closed table, so no path leads elsewhere."""
    marks = style().encode("utf-8")
    handlers: dict[str, Handler] = {"/marked.css": partial(_file, marks, "text/css")}
    for entry in _STATIC.iterdir():
        kind = _KINDS[Path(entry.name).suffix]
        path = "/" if entry.name == "index.html" else f"/{entry.name}"
        handlers[path] = partial(_file, entry.read_bytes(), kind)
    return handlers


async def _file(content: bytes, kind: str, _: Request) -> Response:
    return Response(content, media_type=kind)


async def _handle(
    work: Callable[[RequestBody], dict[str, Any]], workers: Workers, request: Request
) -> Response:
    """Read what is asked for, and do it on a thread."""
    return await _respond(partial(work, await read_json(request)), workers)


async def _drop(bench: Workbench, workers: Workers, request: Request) -> Response:
    try:
        name = unquote(request.headers.get("x-file-name", ""), errors="strict")
    except UnicodeDecodeError:
        name = ""
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise RefusedError(400, "The file has no usable name.")
    data = await body_of(request, MAX_UPLOAD_BYTES)
    return await _respond(partial(bench.drop, name, data), workers)


async def _respond(work: Callable[[], dict[str, Any]], workers: Workers) -> Response:
    try:
        return JSONResponse(await workers.run(work))
    except SdragError as error:
        raise RefusedError(422, str(error)) from None
