"""Two principals side by side, in both frameworks: each is answered for itself."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda, RunnableParallel

from sdrag import Principal, UsageError, acting_as, stream_as
from sdrag.vocabulary import Passage

from ..support.faces import Scenario, langchain_retriever, llamaindex_retriever

NAME = "Anna Karlsson"
JUDGE = Principal("j", roles=frozenset({"judge"}))
CLERK = Principal("c", roles=frozenset({"clerk"}))
WHO = [JUDGE, CLERK] * 3
SEEN = [True, False] * 3
SCENARIO = Scenario(
    "names",
    passages=(Passage("d", f"The witness {NAME} saw it."),),
    policy={
        "constraints": [
            {
                "text": "Remove the names of witnesses",
                "always": True,
                "unless": {"roles": ["judge"]},
            }
        ]
    },
)


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


def shows(found: Any) -> bool:
    return NAME in str(found)


@sync_face
def test_generators_that_are_read_in_turns(face):
    ask = face()

    def asked() -> Iterator[Any]:
        while True:
            yield ask("q")

    streams = {one.id: stream_as(one, asked) for one in (JUDGE, CLERK)}

    assert [shows(next(streams[one.id])) for one in WHO] == SEEN
    assert not shows(ask("q"))


@async_face
async def test_async_generators_that_are_read_in_turns(face):
    ask = face()

    async def asked() -> AsyncIterator[Any]:
        while True:
            yield await ask("q")

    streams = {one.id: stream_as(one, asked) for one in (JUDGE, CLERK)}

    assert [shows(await anext(streams[one.id])) for one in WHO] == SEEN
    assert not shows(await ask("q"))


@async_face
async def test_tasks(face):
    ask = face()

    async def asked(principal: Principal) -> Any:
        with acting_as(principal):
            await asyncio.sleep(0)
            return await ask("q")

    answers = await asyncio.gather(*map(asked, WHO))

    assert list(map(shows, answers)) == SEEN


@async_face
async def test_tasks_that_outlive_their_block(face):
    ask, tasks = face(), []
    for principal in WHO:
        with acting_as(principal):
            tasks.append(asyncio.create_task(ask("q")))

    assert [shows(await task) for task in tasks] == SEEN


@sync_face
def test_threads(face):
    ask = face()

    def asked(principal: Principal) -> Any:
        with acting_as(principal):
            return ask("q")

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(asked, WHO))

    assert list(map(shows, answers)) == SEEN


@sync_face
def test_a_thread_acts_for_nobody_without_the_context(face):
    ask = face()

    with ThreadPoolExecutor(1) as pool, acting_as(JUDGE):
        without = pool.submit(ask, "q")
        given = pool.submit(contextvars.copy_context().run, ask, "q")

    assert (shows(without.result()), shows(given.result())) == (False, True)


async def _asked() -> AsyncIterator[str]:
    yield "q"


STREAMS = {
    "stream": lambda: "q",
    "astream": lambda: "q",
    "transform": lambda: iter(["q"]),
    "atransform": _asked,
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


class TestStreamsOfLangChain:
    """A stream is its creator's: who called the method, not who iterates."""

    @pytest.mark.parametrize("reader", [None, CLERK, JUDGE])
    @pytest.mark.parametrize("creator", [None, CLERK, JUDGE])
    async def test_a_stream_is_its_creators(self, creator, reader):
        """Also of one that another principal reads, with every method that streams."""
        wrapper, seen = langchain_retriever(SCENARIO), {}
        for name, given in STREAMS.items():
            with acting_as(creator):
                stream = getattr(wrapper, name)(given())
            with acting_as(reader):
                seen[name] = shows(await read(stream))

        assert seen == dict.fromkeys(STREAMS, creator is JUDGE)

    @pytest.mark.parametrize("name", ["stream", "astream", "astream_events"])
    async def test_a_resolver_that_changes_its_mind_is_refused(self, name):
        """It reads what has changed between the call and the first item."""
        users = [JUDGE]
        wrapper = langchain_retriever(
            SCENARIO, principal_resolver=lambda config: users[-1]
        )
        stream = getattr(wrapper, name)("q")
        users.append(CLERK)

        with pytest.raises(UsageError, match="another principal"):
            await read(stream)

    def test_a_chain_with_threads_streams_for_its_principal(self):
        """The retriever runs on a thread of LangChain's, between two items."""
        chain = RunnableParallel(
            context=langchain_retriever(SCENARIO), question=RunnableLambda(str)
        )
        streams = [stream_as(one, chain.stream, "q") for one in (JUDGE, CLERK)]

        answers = [[], []]
        for _ in range(2):
            for answer, stream in zip(answers, streams, strict=True):
                answer.append(next(stream))

        assert list(map(shows, answers)) == [True, False]

    async def test_a_chain_with_tasks_streams_for_its_principal(self):
        chain = RunnableParallel(
            context=langchain_retriever(SCENARIO), question=RunnableLambda(str)
        )

        async def read(principal: Principal) -> Any:
            return [one async for one in stream_as(principal, chain.astream, "q")]

        answers = await asyncio.gather(*map(read, WHO))

        assert list(map(shows, answers)) == SEEN
