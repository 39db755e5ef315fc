"""
Real clients over a real wire, to a server on loopback that remembers everything.

What a server cannot do is done without, and lets nothing out.
"""

from __future__ import annotations

import asyncio
from time import monotonic, sleep

import pytest
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_openai import ChatOpenAI
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.llms.openai_like import OpenAILike

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Options
from sdrag.effects.limits import Limits
from sdrag.vocabulary import Passage

from ..support import openai_server as server
from ..support.faces import Documents, Nodes, Scenario
from ..support.tables import each_row

NAME = "Vexborough"
QUESTION = "Which zeppelin did the harbour see?"
SCENARIO = Scenario(
    "wire",
    (
        Passage("p1", f"Captain {NAME} steered past the harbour at dawn.", score=0.9),
        Passage("p2", "The harbour opens at six.", score=0.5),
    ),
    {
        "constraints": [
            {"id": "names", "text": "Only the weather may be disclosed", "always": True}
        ]
    },
)
LIMITS = Limits(seconds=60)


@pytest.fixture
def wire():
    with server.openai_server(NAME) as opened:
        yield opened


def chat_openai(wire, **options):
    return ChatOpenAI(
        base_url=wire.url,
        api_key="none",
        model="double",
        **{"max_retries": 0, **options},
    )


def openai_like(wire, **options):
    return OpenAILike(
        api_base=wire.url,
        api_key="none",
        model="double",
        is_chat_model=True,
        **{"max_retries": 0, "is_function_calling_model": True, **options},
    )


def langchain(llm, limits=LIMITS, audit=None):
    return langchain_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Documents(scenario=SCENARIO),
        policy=SCENARIO.policy,
        llm=llm,
        options=Options(limits=limits, audit=audit),
    )


def llamaindex(llm, limits=LIMITS, audit=None):
    return llamaindex_sdrag.SelectiveDisclosureRetriever(
        base_retriever=Nodes(SCENARIO),
        policy=SCENARIO.policy,
        llm=llm,
        options=Options(limits=limits, audit=audit),
    )


def langchain_sync(wire, limits=LIMITS, audit=None, **options):
    found = langchain(chat_openai(wire, **options), limits, audit).invoke(QUESTION)
    return [document.page_content for document in found]


def langchain_async(wire, limits=LIMITS, audit=None, **options):
    retriever = langchain(chat_openai(wire, **options), limits, audit)
    return [found.page_content for found in asyncio.run(retriever.ainvoke(QUESTION))]


def llamaindex_sync(wire, limits=LIMITS, audit=None, **options):
    found = llamaindex(openai_like(wire, **options), limits, audit).retrieve(QUESTION)
    return [scored.node.get_content() for scored in found]


def llamaindex_async(wire, limits=LIMITS, audit=None, **options):
    retriever = llamaindex(openai_like(wire, **options), limits, audit)
    found = asyncio.run(retriever.aretrieve(QUESTION))
    return [scored.node.get_content() for scored in found]


CLIENTS = (langchain_sync, langchain_async, llamaindex_sync, llamaindex_async)
every_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda c: c.__name__)


def names_it(handler, body):
    handler.reply(server.found(body, (NAME,)))


def assert_kept_apart(wire):
    """No request held both the question and text that was not redacted."""
    assert wire.requests
    for body in wire.bodies():
        assert not (QUESTION in body and NAME in body)


REDACTED = [
    "Captain [withheld] steered past the harbour at dawn.",
    "The harbour opens at six.",
]
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


CAUSES = {
    server.broken: ("model-failed", ("500@127.0.0.1",)),
    server.truncated: ("cut-off", ("cut-off",)),
    server.endless: ("cut-off", ("cut-off",)),
    server.prose: ("no-verdict", ()),
    server.slow: ("model-timeout", ("timeout",)),
    # What each client tells in its own way.
    server.cut: None,
    server.malformed: None,
    server.garbled: None,
    server.refusal: None,
    server.no_choices: None,
    server.broken_off: None,
    server.stream_only: None,  # asked for one piece
    server.too_many_for_long: None,
}


@every_client
@each_row("fault, told", CAUSES.items())
def test_each_failure_withholds_and_is_told_by_its_cause(client, fault, told, wire):
    """In the audit: a code on each passage, and what the provider said."""
    wire.faults, events = [fault], []
    limits = Limits(seconds=0.5 if fault is server.slow else 60)

    assert client(wire, limits, audit=events.append) == []

    (event,) = events
    codes = {decision.reason for decision in event.decisions}
    assert told in (None, (*codes, event.model_failures))
    assert_kept_apart(wire)


def _is_left(wire):
    """Wait until the client has gone, and say whether it has."""
    deadline = monotonic() + 2
    while not wire.gone and monotonic() < deadline:
        sleep(0.01)
    return wire.gone > 0


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize(
    ("make", "model"),
    [(langchain, chat_openai), (llamaindex, openai_like)],
    ids=["langchain", "llamaindex"],
)
def test_an_async_call_that_nobody_waits_for_is_closed_at_the_server(
    make, model, is_late, wire
):
    """Whether it was late, or the application cancelled the request."""
    wire.faults = [server.silent]
    retriever = make(model(wire), Limits(seconds=1 if is_late else 60))
    ask = retriever.ainvoke if make is langchain else retriever.aretrieve

    async def leave():
        task = asyncio.ensure_future(ask(QUESTION))
        await asyncio.to_thread(wire.reached.wait)
        if not is_late:
            task.cancel()
        await asyncio.wait({task})
        return await asyncio.to_thread(_is_left, wire)

    assert asyncio.run(leave())


@every_client
def test_a_timeout_of_the_client_closes_a_sync_call_too(client, wire):
    """And is told as one; without it a thread goes on until it is answered."""
    wire.faults = [server.silent]
    events = []

    assert client(wire, audit=events.append, timeout=0.2) == []

    assert _is_left(wire)
    assert events[0].model_failures == ("timeout",)


@every_client
def test_a_server_with_one_slot_is_asked_one_at_a_time(client, wire):
    """By a limit on what runs at once."""
    wire.faults = [server.one_slot]

    assert len(client(wire, Limits(seconds=60, concurrency=1))) == 2
    assert wire.running == [0, 1]


@every_client
def test_the_clients_own_retries_wait_as_they_are_told(client, wire):
    """The client honours `retry-after` within our limit."""
    wire.faults = [server.too_many, names_it]

    once = Limits(seconds=60, attempts=1, concurrency=1)
    assert len(client(wire, once, max_retries=2)) == 2


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


class JsonMode(ChatOpenAI):
    """A model whose own way to a format is LangChain's parser, as Ollama's is."""

    def with_structured_output(self, schema=None, **kwargs):
        return super().with_structured_output(schema, method="json_mode", **kwargs)


@each_row("fault", [server.broken_off, server.garbled])
def test_a_framework_that_mends_replies_makes_no_verdict_of_them(fault, wire):
    """What the model wrote is read, and not what a parser made of it."""
    wire.faults = [fault]
    model = JsonMode(base_url=wire.url, api_key="none", model="any", max_retries=0)

    assert langchain(model).invoke(QUESTION) == []
