"""On whose behalf: blocks, streams, threads and tasks never mix two principals."""

from __future__ import annotations

import asyncio
import contextvars
import gc
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager

import pytest

from sdrag import Principal, acting_as, stream_as
from sdrag.errors import UsageError
from sdrag.principals import current_principal, current_request

JUDGE, CLERK = Principal("judge"), Principal("clerk")


def stream() -> Iterator[Principal | None]:
    while True:
        yield current_principal()


async def astream() -> AsyncIterator[Principal | None]:
    while True:
        await asyncio.sleep(0)
        yield current_principal()


@contextmanager
def session(principal: Principal) -> Iterator[None]:
    with acting_as(CLERK), acting_as(principal):
        yield


@asynccontextmanager
async def asession(principal: Principal) -> AsyncIterator[None]:
    with acting_as(principal):
        yield


async def test_blocks_act_for_the_code_inside_them():
    """Alone, in context managers and on exit stacks; an error leaves none behind."""
    with acting_as(CLERK):
        with acting_as(None):
            assert current_principal() is None
        with session(JUDGE):
            assert current_principal() is JUDGE
        async with asession(JUDGE):
            await asyncio.sleep(0)
            assert current_principal() is JUDGE
        with ExitStack() as stack:
            stack.enter_context(session(JUDGE))
            stack.enter_context(acting_as(None))
            assert current_principal() is None
        with pytest.raises(ValueError), acting_as(JUDGE):
            raise ValueError
        assert current_principal() is CLERK
    assert current_principal() is None


def requests():
    while True:
        yield current_request()


def test_a_request_keeps_its_id():
    """In the blocks within it and for all of a stream; without one it is given one."""
    with acting_as(CLERK, request_id="r-1"), acting_as(JUDGE):
        assert current_request() == "r-1"
        named = stream_as(JUDGE, requests)
    assert [next(named), next(named)] == ["r-1", "r-1"]
    unnamed = stream_as(JUDGE, requests)
    assert next(unnamed) == next(unnamed) != "r-1"
    assert current_request() is None
    for wrong in ("", "Anna Karlsson", "r" * 65, "r\n", 7):
        with pytest.raises(UsageError), acting_as(CLERK, request_id=wrong):
            pass
    assert current_principal() is None


async def test_streams_of_two_principals_are_read_in_turns():
    """Each item is made for the stream's principal, and the reader keeps its own."""
    first, second = stream_as(JUDGE, stream), stream_as(CLERK, stream)
    third, nobody = stream_as(JUDGE, astream), stream_as(None, astream)
    with acting_as(CLERK):
        for _ in range(3):
            assert (next(first), next(second)) == (JUDGE, CLERK)
            assert (await anext(third), await anext(nobody)) == (JUDGE, None)
            assert current_principal() is CLERK
    await third.aclose()
    await nobody.aclose()


def test_the_call_and_the_end_of_a_stream_are_its_principals_too():
    seen = []

    def function(first: int, *, second: int) -> Iterator[int]:
        seen.append(current_principal())

        def items() -> Iterator[int]:
            try:
                yield first
                yield second
            finally:
                seen.append(current_principal())

        return items()

    with closing(stream_as(JUDGE, function, 1, second=2)) as items:
        assert next(items) == 1
    assert list(stream_as(JUDGE, function, 1, second=2)) == [1, 2]

    assert seen == [JUDGE] * 4


def test_each_item_may_be_taken_by_another_thread():
    """Web servers read a stream by a pool, in a copied context each time."""
    items = stream_as(JUDGE, stream)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(3):
            context = contextvars.Context()
            assert pool.submit(context.run, next, items).result() is JUDGE


def test_what_is_no_stream_is_refused():
    async def coroutine() -> None: ...

    for function, name in ((lambda: 5, "int"), (coroutine, "coroutine")):
        with pytest.raises(UsageError, match=f"got {name}"):
            stream_as(JUDGE, function)


async def test_a_stream_that_the_loop_ends_leaves_nobody_behind():
    """It is finalised by a task of the loop's, in another context."""
    items = stream_as(JUDGE, astream)
    assert await anext(items) is JUDGE
    del items
    gc.collect()
    for _ in range(10):  # until the loop's task has ended it
        await asyncio.sleep(0)

    assert current_principal() is None
