"""
Real clients over a real wire, to a server on loopback that remembers everything.

What a server cannot do is done without, and lets nothing out.
"""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from llama_index.core.query_engine import RetrieverQueryEngine

from sdrag.effects.limits import Limits

from ..support import openai_server as server
from ..support.tables import each_row
from .clients import (
    CLIENTS,
    NAME,
    QUESTION,
    REDACTED,
    assert_kept_apart,
    chat_openai,
    every_client,
    langchain,
    llamaindex,
    names_it,
    openai_like,
)

SERVERS = [None, server.plain_only, server.schema_only, server.unheeding]
"""One that does what it is asked for, and local ones that heed a part of it."""


@every_client
@each_row("fault", SERVERS)
def test_a_model_over_the_wire_redacts(client, fault, wire):
    """By tool, by schema or in words, as client and server can."""
    wire.faults = [fault] if fault else []

    assert client(wire) == REDACTED
    assert_kept_apart(wire)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("client", CLIENTS[:2])
def test_a_server_that_streams_alone(client, wire, recwarn):
    """LangChain's model that is told to stream is asked so by redaction, too."""
    wire.faults = [server.stream_only]

    assert client(wire, streaming=True) == REDACTED
    assert all(body["stream"] for body in wire.requests)
    assert not any(NAME in str(warning.message) for warning in recwarn)
    assert_kept_apart(wire)


@every_client
@each_row(
    "faults",
    [
        [server.too_many, server.broken, None],
        [server.fails_at_formats],
        [server.plain_only],
        [server.thinks_first],
    ],
)
def test_every_request_counts(client, faults, wire):
    """
    Also one that is sent again in other words, or without a limit.

    A refusal for now costs no attempt, a fault costs one, and neither a passage.
    """
    events = []
    wire.faults, wire.requests = list(faults), []

    assert client(wire, audit=events.append) == REDACTED
    assert [event.model_calls for event in events] == [len(wire.requests)]


@every_client
def test_what_the_provider_counts_is_told(client, wire):
    """The server counts a token in and one out for every request that it answers."""
    events = []
    wire.faults = [server.broken, names_it]

    client(wire, audit=events.append)

    (event,) = events
    answered = len(wire.requests) - 1
    assert event.model_calls == len(wire.requests)
    assert (event.tokens_in, event.tokens_out) == (answered, answered)
    assert 0 < event.round_trips <= answered


SHAPES = {
    "langchain by JSON schema": lambda wire: langchain(chat_openai(wire)),
    "langchain by JSON mode": lambda wire: langchain(
        chat_openai(wire).bind(response_format={"type": "json_object"})
    ),
    "langchain by plain text": lambda wire: langchain(chat_openai(wire).bind()),
    "llamaindex by JSON schema": lambda wire: llamaindex(
        openai_like(wire, should_use_structured_outputs=True)
    ),
    "llamaindex by tools": lambda wire: llamaindex(openai_like(wire)),
    "llamaindex by JSON mode": lambda wire: llamaindex(
        openai_like(
            wire,
            is_function_calling_model=False,
            additional_kwargs={"response_format": {"type": "json_object"}},
        )
    ),
    "llamaindex by plain text": lambda wire: llamaindex(
        openai_like(wire, is_function_calling_model=False)
    ),
}
ASKED_BY = {
    "schema": lambda body: body["response_format"]["type"] == "json_schema",
    "tools": lambda body: "tools" in body,
    "mode": lambda body: body["response_format"] == {"type": "json_object"},
    "text": lambda body: not {"tools", "response_format"} & set(body),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_reply_is_read(shape, wire):
    """A tool call, a JSON reply, and JSON within talk mean the same."""
    retriever = SHAPES[shape](wire)

    if shape.startswith("langchain"):
        text = str(retriever.invoke(QUESTION))
    else:
        text = str([found.node for found in retriever.retrieve(QUESTION)])

    assert NAME not in text
    assert "[withheld] steered" in text
    assert all(ASKED_BY[shape.split()[-1]](body) for body in wire.requests)
    assert_kept_apart(wire)


@every_client
def test_a_server_that_fails_at_formats_is_asked_for_one_once(client, wire):
    """Then in words, and so for every further prompt."""
    wire.faults = [server.fails_at_formats]

    assert len(client(wire, Limits(seconds=60, concurrency=1))) == 2
    held = [b for b in wire.requests if b.get("tools") or b.get("response_format")]
    assert held == wire.requests[:1]
    assert_kept_apart(wire)


def _limited(wire):
    """Return the requests that limit the tokens of a reply."""
    names = ("max_tokens", "max_completion_tokens")
    return [body for body in wire.requests if any(map(body.get, names))]


@every_client
def test_a_reply_has_a_limit_of_tokens(client, wire):
    """What it can need."""
    assert len(client(wire)) == 2
    assert _limited(wire) == wire.requests


@every_client
def test_a_model_that_thinks_first_is_asked_without_a_limit(client, wire):
    """From the reply on of which nothing was said within the limit."""
    wire.faults = [server.thinks_first]

    assert len(client(wire, Limits(seconds=60, concurrency=1))) == 2
    assert _limited(wire) == wire.requests[:1]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream", "astream"])
def test_a_whole_langchain_chain_keeps_them_apart(mode, wire):
    """The chain streams from the wire; what it streams was redacted before."""
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    retriever = langchain(chat_openai(wire))
    chain = (
        {"context": retriever, "question": RunnablePassthrough()}
        | prompt
        | chat_openai(wire)
        | StrOutputParser()
    )

    answer = _answer(chain, mode)

    assert QUESTION in answer
    assert "steered" in answer
    assert NAME not in answer
    assert_kept_apart(wire)


def _answer(chain, mode):
    async def collected():
        return "".join([chunk async for chunk in chain.astream(QUESTION)])

    if mode == "astream":
        return asyncio.run(collected())
    if mode == "stream":
        return "".join(chain.stream(QUESTION))
    if mode == "ainvoke":
        return asyncio.run(chain.ainvoke(QUESTION))
    return chain.invoke(QUESTION)


@pytest.mark.parametrize("streaming", [False, True])
def test_a_whole_llamaindex_engine_keeps_them_apart(streaming, wire):
    """The engine's own prompt holds the question, and redacted text."""
    llm = openai_like(wire)
    engine = RetrieverQueryEngine.from_args(
        llamaindex(llm), llm=llm, streaming=streaming
    )

    response = engine.query(QUESTION)

    answer = "".join(response.response_gen) if streaming else str(response)
    assert "steered" in answer
    assert NAME not in answer
    assert_kept_apart(wire)
