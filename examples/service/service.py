"""
A RAG service: a signed token, a wrapped retriever, a streamed answer, codes for errors.

    pip install -c constraints.txt ".[langchain,chroma,local]" \
        fastapi langchain-openai PyJWT uvicorn
    export SERVICE_KEY=$(python -c "import secrets; print(secrets.token_hex(32))")
    uvicorn --app-dir examples/service --factory service:create_app

In another terminal with the same SERVICE_KEY, as a clerk of the harbour:

    TOKEN=$(python examples/service/service.py clerk-7 harbour clerk)
    curl http://127.0.0.1:8000/passages -H "Authorization: Bearer $TOKEN" \
        -H "Content-Type: application/json" -d '{"question": "What was seen?"}'

`/answer` needs a model: any server at MODEL_URL that speaks the protocol of OpenAI.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from time import time
from typing import Annotated

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
from sdrag import Principal, RawTextFilter, acting_as, stream_as

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


class Question(BaseModel):
    """The body of a request; nothing in it says who asks."""

    question: str = Field(min_length=1, max_length=2000)


class UnknownCallerError(Exception):
    """The token is missing, expired, or not signed with the key."""


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


Caller = Annotated[Principal, Depends(read_principal)]


def build_retriever() -> SelectiveDisclosureRetriever:
    """Index the notes, under a policy; put your own store here."""
    state = os.environ.get("SERVICE_STATE")  # a path or a URL; processes share it
    documents = [
        Document(text, metadata={"tenant": tenant, "source": source})
        for tenant, source, text in NOTES
    ]
    binder = ConstraintBinder(policy=POLICY, state=state)
    store = Chroma("service", LocalEmbeddings())
    store.add_documents(binder.transform_documents(documents))
    return SelectiveDisclosureRetriever(
        base_retriever=store.as_retriever(), policy=POLICY, state=state
    )


def create_app(model: BaseChatModel | None = None) -> FastAPI:
    """Make the service; the retriever and the model are made once."""
    handler = logging.StreamHandler()
    handler.addFilter(RawTextFilter())
    logging.basicConfig(handlers=[handler])
    retriever = build_retriever()
    url = os.environ.get("MODEL_URL", "http://127.0.0.1:11434/v1")
    name = os.environ.get("MODEL", "llama3.2")
    model = model or ChatOpenAI(base_url=url, model=name, api_key="none", timeout=30)
    chain = ChatPromptTemplate.from_template(PROMPT) | model | StrOutputParser()
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    async def retrieve(question: str, caller: Principal) -> list[Document]:
        with acting_as(caller):
            return await asyncio.wait_for(retriever.ainvoke(question), SECONDS)

    @app.post("/passages")
    async def read_passages(body: Question, caller: Caller) -> list[str]:
        documents = await retrieve(body.question, caller)
        return [document.page_content for document in documents]

    @app.post("/answer")
    async def read_answer(body: Question, caller: Caller) -> StreamingResponse:
        documents = await retrieve(body.question, caller)
        context = "\n".join(document.page_content for document in documents)
        given = {"context": context, "question": body.question}
        words = stream_as(caller, chain.astream, given)
        return StreamingResponse(write_lines(words), media_type="application/x-ndjson")

    @app.exception_handler(UnknownCallerError)
    async def refuse(_request: Request, _error: Exception) -> JSONResponse:
        return JSONResponse({"error": "unknown-caller"}, 401)

    @app.middleware("http")
    async def hide_errors(request: Request, call_next):  # noqa: ANN001, ANN202
        try:
            return await call_next(request)
        except Exception as error:  # noqa: BLE001 -- its message may quote raw text
            logging.warning("A request failed: %s.", type(error).__name__)  # noqa: LOG015
            return JSONResponse({"error": "failed"}, 500)

    return app


async def write_lines(words: AsyncIterator[str]) -> AsyncIterator[str]:
    """Write a JSON object a line; an answer whose last line is not `done` broke off."""
    try:
        async with asyncio.timeout(SECONDS):
            async for text in words:
                yield json.dumps({"text": text}) + "\n"
        yield json.dumps({"done": True}) + "\n"
    except Exception as error:  # noqa: BLE001 -- its message may quote raw text
        logging.warning("A stream failed: %s.", type(error).__name__)  # noqa: LOG015
        yield json.dumps({"error": "model-failed"}) + "\n"


if __name__ == "__main__":
    print(sign(*sys.argv[1:]))
