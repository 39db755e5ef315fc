"""On whose behalf: blocks, streams, threads and tasks never mix two principals."""

from __future__ import annotations

import asyncio
import contextvars
import gc
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from typing import Any

import pytest

from sdrag import Principal, acting_as, stream_as
from sdrag.errors import UsageError
from sdrag.principals import current_principal

JUDGE, CLERK = Principal("judge"), Principal("clerk")


def asking() -> Iterator[Principal | None]:
    while True:
        yield current_principal()


async def aasking() -> AsyncIterator[Principal | None]:
    while True:
        await asyncio.sleep(0)
        yield current_principal()


@contextmanager
def session(principal: Principal) -> Iterator[None]:
    with acting_as(principal):
        yield


@contextmanager
def nested_session(principal: Principal) -> Iterator[None]:
    with session(CLERK), session(principal):
        yield


@asynccontextmanager
async def asession(principal: Principal) -> AsyncIterator[None]:
    with acting_as(principal):
        yield


class Session:
    def __init__(self, principal: Principal) -> None:
        self.block = acting_as(principal)

    def __enter__(self) -> None:
        self.block.__enter__()

    def __exit__(self, *error: Any) -> None:  # noqa: PYI036 -- handed on
        self.block.__exit__(*error)


class TestBlocks:
    """Inside the block, and nowhere else."""

    @pytest.mark.parametrize(
        "block",
        [acting_as, session, nested_session, Session],
        ids=["block", "function", "nested", "class"],
    )
    def test_context_managers_made_of_a_block_act_for_their_code(self, block):
        with acting_as(CLERK):
            with block(JUDGE):
                assert current_principal() is JUDGE
            assert current_principal() is CLERK
        assert current_principal() is None

    async def test_async_context_managers_do_too(self):
        async with asession(JUDGE):
            await asyncio.sleep(0)
            assert current_principal() is JUDGE
        assert current_principal() is None

    def test_nobody_hides_somebody(self):
        with acting_as(JUDGE), acting_as(None):
            assert current_principal() is None

    def test_an_exit_stack_holds_blocks(self):
        with ExitStack() as stack:
            stack.enter_context(acting_as(JUDGE))
            stack.enter_context(session(CLERK))
            assert current_principal() is CLERK
        assert current_principal() is None


class TestStreams:
    """Each item is made on behalf of the stream's principal, whoever takes it."""

    def test_streams_are_read_in_turns(self):
        first, second = stream_as(JUDGE, asking), stream_as(CLERK, asking)
        seen = [(next(first), current_principal(), next(second)) for _ in range(3)]

        assert seen == [(JUDGE, None, CLERK)] * 3

    async def test_async_streams_are_read_in_turns(self):
        first, second = stream_as(JUDGE, aasking), stream_as(CLERK, aasking)
        seen = [
            (await anext(first), current_principal(), await anext(second))
            for _ in range(3)
        ]
        await first.aclose()
        await second.aclose()

        assert seen == [(JUDGE, None, CLERK)] * 3

    def test_the_readers_own_principal_stays(self):
        with acting_as(CLERK):
            items = stream_as(None, asking)
            assert (next(items), current_principal()) == (None, CLERK)

    def test_the_function_is_called_for_the_principal_too(self):
        seen = []

        def made() -> list[int]:
            seen.append(current_principal())
            return [1]

        assert list(stream_as(JUDGE, made)) == [1]
        assert seen == [JUDGE]

    def test_each_item_may_be_taken_by_another_thread(self):
        """Web servers read a stream by a pool, in a copied context each time."""
        items = stream_as(JUDGE, asking)
        with ThreadPoolExecutor(1) as pool:
            seen = [
                pool.submit(contextvars.Context().run, next, items).result()
                for _ in range(3)
            ]

        assert seen == [JUDGE] * 3

    def test_the_end_of_a_stream_is_its_principals_too(self):
        seen = []

        def ending() -> Iterator[int]:
            try:
                yield 1
            finally:
                seen.append(current_principal())

        with closing(stream_as(JUDGE, ending)) as items:
            next(items)

        assert seen == [JUDGE]

    def test_arguments_are_passed_on(self):
        def made(first: int, *, second: int) -> Iterator[int]:
            yield first
            yield second

        assert list(stream_as(JUDGE, made, 1, second=2)) == [1, 2]

    def test_what_is_no_stream_is_refused(self):
        with pytest.raises(UsageError, match="got int"):
            stream_as(JUDGE, lambda: 5)

    def test_a_coroutine_is_no_stream(self):
        async def made() -> list[int]:
            return []

        with pytest.raises(UsageError, match="got coroutine"):
            stream_as(JUDGE, made)

    async def test_a_stream_that_the_loop_ends_leaves_nobody_behind(self):
        """It is finalised by a task of the loop's, in another context."""
        items = stream_as(JUDGE, aasking)
        assert await anext(items) is JUDGE
        del items
        gc.collect()
        for _ in range(10):  # until the loop's task has ended it
            await asyncio.sleep(0)

        assert current_principal() is None


class TestWhatABlockStarts:
    """Tasks inherit the principal of their creator; threads do with its context."""

    async def test_tasks_of_two_principals_do_not_mix(self):
        async def asked(principal: Principal) -> list[Principal | None]:
            with acting_as(principal):
                seen = []
                for _ in range(3):
                    await asyncio.sleep(0)
                    seen.append(current_principal())
                return seen

        answers = await asyncio.gather(*map(asked, [JUDGE, CLERK] * 2))

        assert answers == [[JUDGE] * 3, [CLERK] * 3] * 2

    async def test_a_task_keeps_it_when_the_block_is_over(self):
        async def asked() -> Principal | None:
            await asyncio.sleep(0)
            return current_principal()

        with acting_as(JUDGE):
            task = asyncio.create_task(asked())

        assert await task is JUDGE
        assert current_principal() is None

    @pytest.mark.parametrize(
        ("start", "who"),
        [
            (lambda pool: pool.submit(current_principal), None),
            (
                lambda pool: pool.submit(
                    contextvars.copy_context().run, current_principal
                ),
                JUDGE,
            ),
        ],
        ids=["no context", "copied context"],
    )
    def test_a_thread_has_it_with_the_context_only(self, start, who):
        """A pool's thread that was given no context acts for nobody."""
        with ThreadPoolExecutor(1) as pool, acting_as(JUDGE):
            assert start(pool).result() is who
