"""
A RAG service: a signed token, a wrapped retriever, a streamed answer, codes for errors.

    pip install -c constraints.txt ".[langchain,chroma,local,otel]" \
        fastapi langchain-openai PyJWT uvicorn
    export SERVICE_KEY=$(python -c "import secrets; print(secrets.token_hex(32))")
    uvicorn --app-dir examples/service --factory service:create_app

In another terminal with the same SERVICE_KEY, as a clerk of the harbour:

    TOKEN=$(python examples/service/service.py clerk-7 harbour clerk)
    curl http://127.0.0.1:8000/passages -H "Authorization: Bearer $TOKEN" \
        -H "Content-Type: application/json" -d '{"question": "What was seen?"}'

`/answer` needs a model: any server at MODEL_URL that speaks the protocol of OpenAI.
With SERVICE_POLICY, the path of a policy, an operator can change it and `POST /reload`.
Chroma keeps the notes in the folder SERVICE_STORE: `chroma`, unless you name another.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from contextvars import ContextVar
from time import time
from typing import Annotated
from uuid import uuid4

import jwt
from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from langchain_sdrag import ConstraintBinder, SelectiveDisclosureRetriever
from langchain_sdrag.local_embeddings import LocalEmbeddings
from sdrag import (
    OpenTelemetrySink,
    Options,
    Principal,
    RawTextFilter,
    acting_as,
    stream_as,
)
from sdrag.errors import HostError, SdragError
from sdrag.privacy.audit import AuditEvent, log_event

POLICY = {
    "constraints": [
        {"text": "Remove names of witnesses", "unless": {"roles": ["judge"]}},
        "Remove phone numbers",
    ],
    "access": {"tenant_key": "tenant", "required": ["tenant"]},
    "metadata": {"allow": ["source"]},
}
NOTES = [
    ("harbour", "log-1", "The witness Anna Karlsson saw two men. Call 020 7946 0142."),
    ("harbour", "log-2", "The harbour opens at six and closes at nine."),
    ("airport", "log-3", "The witness Bo Lindqvist saw a van at the hangar."),
]
PROMPT = "Answer from these passages alone.\n\n{context}\n\nQuestion: {question}"
SECONDS = 60
PROBE_SECONDS = 2
SLOTS = 32
"""Requests that run at the same time."""

faults: ContextVar[set[str]] = ContextVar("faults")
"""Why a request could not be served, as its audit event says."""


class Question(BaseModel):
    """The body of a request; nothing in it says who asks."""

    question: str = Field(min_length=1, max_length=2000)


class UnknownCallerError(Exception):
    """The token is missing, expired, or not signed with the key."""


class RefusedError(Exception):
    """A request is answered with a status and a code."""

    def __init__(self, status: int, code: str) -> None:
        self.status, self.code = status, code
        super().__init__(code)


class Slots:
    """How many more requests may run; where none may, a client is told at once."""

    def __init__(self, free: int) -> None:
        self.free = free

    def __enter__(self) -> None:
        if not self.free:
            raise RefusedError(503, "full")
        self.free -= 1

    def __exit__(self, *_: object) -> None:
        self.free += 1


def note_faults(event: AuditEvent) -> None:
    """Tell a request that passages were withheld because something failed."""
    codes = {item.reason for item in event.decisions}
    faults.get(set()).update(code for code in codes if code.startswith("failed-"))


def sign(user: str, tenant: str, *roles: str) -> str:
    """Sign who a user is, for ten minutes; do this where users log in."""
    claims = {"sub": user, "tenant": tenant, "roles": roles, "exp": time() + 600}
    return jwt.encode(claims, os.environ["SERVICE_KEY"], algorithm="HS256")


async def read_principal(request: Request) -> Principal:
    """Make a principal of the token that the request carries."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    key, required = os.environ["SERVICE_KEY"], ["exp", "sub", "tenant"]
    try:
        claims = jwt.decode(token, key, ["HS256"], options={"require": required})
        roles = frozenset(claims.get("roles", ()))
        return Principal(claims["sub"], tenant=claims["tenant"], roles=roles)
    except (jwt.InvalidTokenError, TypeError, ValueError):
        raise UnknownCallerError from None


def name_request(request: Request) -> str:
    """Return the id of a request, for audits and answers; a client may give it."""
    given = request.headers.get("x-request-id", "")
    return given if re.fullmatch("[A-Za-z0-9-]{1,64}", given) else uuid4().hex


Caller = Annotated[Principal, Depends(read_principal)]


def build_retriever() -> SelectiveDisclosureRetriever:
    """Index the notes, under a policy; put your own store here."""
    state = os.environ.get("SERVICE_STATE")  # a path or a URL; processes share it
    documents = [
        Document(text, id=source, metadata={"tenant": tenant, "source": source})
        for tenant, source, text in NOTES
    ]
    policy = os.environ.get("SERVICE_POLICY", POLICY)
    binder = ConstraintBinder(policy=policy, state=state)
    folder = os.environ.get("SERVICE_STORE", "chroma")
    store = Chroma("service", LocalEmbeddings(), persist_directory=folder)
    store.add_documents(binder.transform_documents(documents))
    return SelectiveDisclosureRetriever(
        base_retriever=store.as_retriever(),
        policy=policy,
        state=state,
        options=Options(audit=(log_event, note_faults, OpenTelemetrySink())),
    )


class Service:
    """What the routes share: made once, with nothing of a request in it."""

    def __init__(self, retriever: SelectiveDisclosureRetriever, model: object) -> None:
        self.retriever, self.slots = retriever, Slots(SLOTS)
        self.chain = (
            ChatPromptTemplate.from_template(PROMPT) | model | StrOutputParser()
        )

    async def retrieve(self, question: str, caller: Principal) -> list[Document]:
        """Return what a caller may see; a store or state that fails is no answer."""
        failed: set[str] = set()
        faults.set(failed)
        with acting_as(caller):
            try:
                work = self.retriever.ainvoke(question)
                documents = await asyncio.wait_for(work, SECONDS)
            except HostError:
                raise RefusedError(502, "store-failed") from None
        if failed and not documents:  # nothing to show, and not because of the policy
            raise RefusedError(502, min(failed))
        return documents

    async def answer(
        self, question: str, caller: Principal
    ) -> AsyncGenerator[str, None]:
        """Yield an answer; its slot is free again when it ends or is closed."""
        with self.slots:
            documents = await self.retrieve(question, caller)
            context = "\n".join(document.page_content for document in documents)
            given = {"context": context, "question": question}
            async with aclosing(stream_as(caller, self.chain.astream, given)) as words:
                async for text in words:
                    yield text

    async def probe(self) -> dict[str, object]:
        """Return whether questions can be answered; codes, and no text."""
        check = asyncio.to_thread(self.retriever.health)
        try:
            return (await asyncio.wait_for(check, PROBE_SECONDS)).as_dict()
        except TimeoutError:  # its state is late, or its networks are being loaded
            return {"ready": False, "live": True}

    def reload(self, caller: Principal) -> None:
        """Read the policy again, for an operator; a wrong one changes nothing."""
        if "operator" not in caller.roles:
            raise RefusedError(403, "not-an-operator")
        try:
            self.retriever.reload()
        except SdragError:
            raise RefusedError(422, "policy-refused") from None


def create_app(model: BaseChatModel | None = None) -> FastAPI:
    """Make the service; the retriever and the model are made once."""
    handler = logging.StreamHandler()
    handler.addFilter(RawTextFilter())
    logging.basicConfig(handlers=[handler])
    url = os.environ.get("MODEL_URL", "http://127.0.0.1:11434/v1")
    name = os.environ.get("MODEL", "llama3.2")
    model = model or ChatOpenAI(base_url=url, model=name, api_key="none", timeout=30)
    service = Service(build_retriever(), model)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/health")  # restart the process where this is no 200
    async def read_health() -> JSONResponse:
        health = await service.probe()
        return JSONResponse(health, 200 if health["live"] else 503)

    @app.get("/ready")  # and send it no questions where this is none
    async def read_readiness() -> JSONResponse:
        health = await service.probe()
        return JSONResponse(health, 200 if health["ready"] else 503)

    @app.post("/reload")
    async def reload(caller: Caller) -> dict[str, str]:
        service.reload(caller)
        return {"policy_hash": service.retriever.policy_hash}

    @app.post("/passages")
    async def read_passages(body: Question, caller: Caller) -> list[str]:
        with service.slots:
            documents = await service.retrieve(body.question, caller)
        return [document.page_content for document in documents]

    @app.post("/answer")
    async def read_answer(body: Question, caller: Caller) -> StreamingResponse:
        lines = write_lines(service.answer(body.question, caller))
        first = await anext(lines)  # until there is a word, a failure has a status
        return StreamingResponse(
            prepend(first, lines), media_type="application/x-ndjson"
        )

    @app.exception_handler(UnknownCallerError)
    async def refuse(_request: Request, _error: Exception) -> JSONResponse:
        return JSONResponse({"error": "unknown-caller"}, 401)

    @app.exception_handler(RefusedError)
    async def refuse_with_code(_request: Request, error: RefusedError) -> JSONResponse:
        headers = {"Retry-After": "1"} if error.status == 503 else None
        return JSONResponse({"error": error.code}, error.status, headers)

    @app.middleware("http")
    async def hide_errors(request: Request, call_next):  # noqa: ANN001, ANN202
        name = name_request(request)
        with acting_as(None, request_id=name):  # nobody, until a handler knows better
            try:
                response = await call_next(request)
            except Exception as error:  # noqa: BLE001 -- its message may quote raw text
                logging.warning("%s failed: %s.", name, type(error).__name__)  # noqa: LOG015
                response = JSONResponse({"error": "failed"}, 500)
        response.headers["X-Request-ID"] = name
        return response

    return app


async def write_lines(words: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    """Write a JSON object a line; an answer whose last line is not `done` broke off."""
    end, began = asyncio.get_running_loop().time() + SECONDS, False
    async with aclosing(words):
        try:
            while True:
                async with asyncio.timeout_at(end):
                    text = await anext(words)
                yield json.dumps({"text": text}) + "\n"
                began = True
        except StopAsyncIteration:
            yield json.dumps({"done": True}) + "\n"
        except RefusedError:
            raise
        except Exception as error:  # noqa: BLE001 -- its message may quote raw text
            logging.warning("A stream failed: %s.", type(error).__name__)  # noqa: LOG015
            if not began:
                raise RefusedError(502, "model-failed") from None
            yield json.dumps({"error": "model-failed"}) + "\n"


async def prepend(first: str, rest: AsyncGenerator[str, None]) -> AsyncIterator[str]:
    """Yield what was waited for, and the rest."""
    async with aclosing(rest):
        yield first
        async for line in rest:
            yield line


if __name__ == "__main__":
    print(sign(*sys.argv[1:]))
