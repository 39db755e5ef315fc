"""Local models: what their servers cannot do is done without, and lets nothing out."""

from __future__ import annotations

import pytest
from langchain_openai import ChatOpenAI

from ..support import openai_server as server
from .test_openai import (
    CLIENTS,
    NAME,
    QUESTION,
    assert_kept_apart,
    every_client,
    langchain,
    langchain_async,
    langchain_sync,
    llamaindex_async,
    llamaindex_sync,
)

REDACTED = [
    "Captain [withheld] steered past the harbour at dawn.",
    "The harbour opens at six.",
]
LANGCHAIN = (langchain_sync, langchain_async)
LLAMAINDEX = (llamaindex_sync, llamaindex_async)


@pytest.fixture
def wire():
    with server.openai_server(NAME) as opened:
        yield opened


def named(clients, *marks):
    return [pytest.param(one, id=one.__name__, marks=marks) for one in clients]


@every_client
def test_a_server_that_knows_json_schemas_alone(client, wire):
    """LangChain asks by schema; LlamaIndex asks by tool, and then in plain words."""
    wire.faults = [server.schema_only]

    assert client(wire) == REDACTED
    if client in LANGCHAIN:
        kinds = {body["response_format"]["type"] for body in wire.requests}
        assert kinds == {"json_schema"}
    assert_kept_apart(wire)


@pytest.mark.parametrize("client", named(CLIENTS))
def test_a_server_that_heeds_no_format(client, wire):
    """What it says is almost JSON, and is read."""
    wire.faults = [server.unheeding]

    assert client(wire) == REDACTED
    assert_kept_apart(wire)


@pytest.mark.parametrize("client", named(LLAMAINDEX))
def test_a_model_that_is_asked_in_plain_words(client, wire):
    """As in the recipe for llama.cpp: no tool and no format is sent."""
    wire.faults = [server.unheeding]

    assert client(wire, is_function_calling_model=False) == REDACTED
    assert not any({"tools", "response_format"} & set(body) for body in wire.requests)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("client", named(LANGCHAIN))
def test_a_server_that_streams_alone(client, wire):
    """A model that is told to stream is asked so by redaction, too."""
    wire.faults = [server.stream_only]

    assert client(wire, streaming=True) == REDACTED
    assert all(body["stream"] for body in wire.requests)
    assert_kept_apart(wire)


def test_no_warning_quotes_what_was_streamed(wire, recwarn):
    wire.faults = [server.stream_only]

    langchain_sync(wire, streaming=True)

    assert not any(NAME in str(warning.message) for warning in recwarn)


@every_client
def test_a_server_that_streams_alone_and_is_asked_for_one_piece(client, wire):
    """LlamaIndex has no model that streams where it is asked to chat."""
    wire.faults = [server.stream_only]

    assert client(wire) == []
    assert_kept_apart(wire)


@every_client
def test_a_reply_that_breaks_off_before_its_spans(client, wire):
    """It is no verdict that finds nothing."""
    wire.faults = [server.broken_off]

    assert client(wire) == []


class JsonMode(ChatOpenAI):
    """A model whose own way to a format is LangChain's parser, as Ollama's is."""

    def with_structured_output(self, schema=None, **kwargs):
        return super().with_structured_output(schema, method="json_mode", **kwargs)


@pytest.mark.parametrize(
    "fault",
    [server.broken_off, server.garbled],
    ids=lambda fault: fault.__name__,
)
def test_a_framework_that_mends_replies_makes_no_verdict_of_them(fault, wire):
    """What the model wrote is read, and not what a parser made of it."""
    wire.faults = [fault]
    model = JsonMode(base_url=wire.url, api_key="none", model="any", max_retries=0)

    assert langchain(model).invoke(QUESTION) == []


def test_every_client_is_asked():
    assert set(LANGCHAIN + LLAMAINDEX) == set(CLIENTS)
