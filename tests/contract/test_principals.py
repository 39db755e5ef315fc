"""Two principals side by side, in both frameworks: each is answered for itself."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda, RunnableParallel

from sdrag import Principal, UsageError, acting_as, stream_as
from sdrag.vocabulary import Passage

from ..support.faces import Scenario, langchain_retriever, llamaindex_retriever
from ..support.witness import CLERK, JUDGE, NAME, POLICY, TEXT

WHO = [JUDGE, CLERK] * 3
SEES = [True, False] * 3
SCENARIO = Scenario("names", (Passage("d", TEXT),), POLICY)


def langchain() -> Any:
    return langchain_retriever(SCENARIO).invoke


def llamaindex() -> Any:
    return llamaindex_retriever(SCENARIO).retrieve


def alangchain() -> Any:
    return langchain_retriever(SCENARIO).ainvoke


def allamaindex() -> Any:
    return llamaindex_retriever(SCENARIO).aretrieve


sync_face = pytest.mark.parametrize("face", [langchain, llamaindex])
async_face = pytest.mark.parametrize("face", [alangchain, allamaindex])


def shows(answer: Any) -> bool:
    return NAME in str(answer)


@async_face
async def test_tasks_also_when_they_outlive_their_block(face):
    ask, tasks = face(), []
    for principal in WHO:
        with acting_as(principal):
            tasks.append(asyncio.create_task(ask("q")))

    assert [shows(await task) for task in tasks] == SEES


@sync_face
def test_threads(face):
    """Each acts for whom it says, and for nobody without the context."""
    ask = face()

    def answer(principal: Principal) -> Any:
        with acting_as(principal):
            return ask("q")

    with ThreadPoolExecutor(2) as pool, acting_as(JUDGE):
        answers = list(pool.map(answer, WHO))
        nobody = pool.submit(ask, "q")
        judge = pool.submit(contextvars.copy_context().run, ask, "q")

    assert list(map(shows, answers)) == SEES
    assert (shows(nobody.result()), shows(judge.result())) == (False, True)


async def questions() -> AsyncIterator[str]:
    yield "q"


STREAMS = {
    "stream": lambda: "q",
    "astream": lambda: "q",
    "transform": lambda: iter(["q"]),
    "atransform": questions,
    "astream_events": lambda: "q",
    "astream_log": lambda: "q",
    "batch_as_completed": lambda: ["q"],
    "abatch_as_completed": lambda: ["q"],
}
"""The methods of a runnable that stream, and what each is given."""


async def read(stream: Any) -> list[Any]:
    if isinstance(stream, AsyncIterator):
        return [item async for item in stream]
    return list(stream)


async def test_a_stream_of_langchain_is_its_creators():
    """Who called the method, not who iterates; with every method that streams."""
    wrapper = langchain_retriever(SCENARIO)
    for creator, reader in product([None, CLERK, JUDGE], repeat=2):
        sees = {}
        for name, given in STREAMS.items():
            with acting_as(creator):
                stream = getattr(wrapper, name)(given())
            with acting_as(reader):
                sees[name] = shows(await read(stream))

        assert sees == dict.fromkeys(STREAMS, creator is JUDGE)


@pytest.mark.parametrize("name", ["stream", "astream", "astream_events"])
async def test_a_resolver_that_changes_its_mind_is_refused(name):
    """It reads what has changed between the call and the first item."""
    users = [JUDGE]
    wrapper = langchain_retriever(SCENARIO, principal_resolver=lambda config: users[-1])
    stream = getattr(wrapper, name)("q")
    users.append(CLERK)

    with pytest.raises(UsageError, match="another principal"):
        await read(stream)


async def test_a_chain_of_langchain_streams_for_its_principal():
    """The retriever runs on a thread or a task of LangChain's, between two items."""
    chain = RunnableParallel(
        context=langchain_retriever(SCENARIO), question=RunnableLambda(str)
    )

    async def answer_to(principal: Principal) -> Any:
        return await read(stream_as(principal, chain.astream, "q"))

    answers: list[list[Any]] = [[], []]
    streams = [stream_as(who, chain.stream, "q") for who in (JUDGE, CLERK)]
    for _ in range(2):
        for answer, stream in zip(answers, streams, strict=True):
            answer.append(next(stream))

    assert list(map(shows, answers)) == [True, False]
    assert list(map(shows, await asyncio.gather(*map(answer_to, WHO)))) == SEES
