"""Real clients of both frameworks, around the wrapper, for a server on loopback."""

from __future__ import annotations

import asyncio

import pytest
from langchain_openai import ChatOpenAI
from llama_index.llms.openai_like import OpenAILike

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Options
from sdrag.effects.limits import Limits
from sdrag.vocabulary import Passage

from ..support import openai_server as server
from ..support.faces import Documents, Nodes, Scenario

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
        ],
        "disclosure": {"small_model": False},  # what the double answers to
    },
)
LIMITS = Limits(seconds=60)


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
