"""What a server or a client fails at: it withholds, is told of, and leaves nobody."""

from __future__ import annotations

import asyncio
from time import monotonic, sleep

import pytest
from langchain_openai import ChatOpenAI

from sdrag.effects.limits import Limits

from ..support import openai_server as server
from ..support.tables import each_row
from .clients import (
    QUESTION,
    assert_kept_apart,
    chat_openai,
    every_client,
    langchain,
    llamaindex,
    names_it,
    openai_like,
)

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
