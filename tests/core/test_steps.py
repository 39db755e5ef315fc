"""Effects that are put together, and rules that are driven on an event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from contextvars import ContextVar

import pytest

from sdrag.effects.steps import (
    CUT_OFF,
    Authorize,
    Embed,
    Reply,
    Score,
    Search,
    arun,
    authorize,
    embed,
    run,
    score,
    search,
    try_each,
    why_failed,
)
from sdrag.errors import HostError, ModelError, ModelReplyError, ModelTimeoutError
from sdrag.vocabulary import Passage, Principal

SEEN, WHO = Passage("a", "Seen."), Principal("p")

_asker: ContextVar[str] = ContextVar("asker", default="nobody")


class _Vectors:
    """Answers each text with its length; fails for the text `fail`."""

    async def aperform(self, effect: Embed):
        await asyncio.sleep(0)
        if "fail" in effect.items:
            raise ModelError("No vector.")
        return [len(text) for text in effect.items]


def test_a_corpus_is_embedded_in_batches():
    """Each is a call of its own, so that a time limit holds for a part of it."""
    sizes = []

    class EffectRunner:
        def perform(self, effect: Embed):
            sizes.append(len(effect.items))
            return list(effect.items)

    texts = [str(n) for n in range(1200)]

    assert run(embed(texts), EffectRunner()) == texts
    assert sizes == [512, 512, 176]


HELPERS = [
    (lambda: search("q", filters="f", limit=3), Search(("q",), "f", 3)),
    (lambda: score([("a", "b")]), Score((("a", "b"),), "relevance")),
    (lambda: score([("a", "b")], model="m"), Score((("a", "b"),), "m")),
    (lambda: authorize([SEEN], WHO), Authorize((SEEN,), WHO)),
    (lambda: embed(["a"]), Embed(("a",), query=False)),
    (lambda: embed(["a"], query=True), Embed(("a",), query=True)),
]


@pytest.mark.parametrize(("start", "effect"), HELPERS)
def test_a_helper_asks_for_what_it_was_given(start, effect):
    """All of it at once, and returns what came."""
    steps = start()
    assert next(steps) == effect
    answer = [Reply([SEEN])]
    with pytest.raises(StopIteration) as stop:
        steps.send(answer)
    assert stop.value.value == ((SEEN,) if isinstance(effect, Search) else answer)


def test_local_work_costs_the_item_that_it_fails_at():
    """An error of ours stays one; of any other the type alone is told."""

    def work(item):
        if item == "ours":
            raise HostError("It is away.")
        if item == "any":
            raise ValueError(item)
        return item.upper()

    fine, ours, other = try_each(work, ["a", "ours", "any"])
    assert fine == Reply("A")
    assert isinstance(ours.error, HostError)
    assert str(other.error) == "Local work failed: ValueError."


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ModelTimeoutError("late"), "model-timeout"),
        (ModelReplyError("short", server=CUT_OFF), "cut-off"),
        (ModelReplyError("none", server="host 500"), "model-failed"),
        (HostError("away"), "model-failed"),
    ],
)
def test_why_a_model_failed(error, code):
    """As decisions give it."""
    assert why_failed(error) == code


def test_a_rule_that_computes_does_not_stall_the_event_loop():
    """It is advanced on threads, before, between and after its effects."""
    threads = []

    def rule():
        for text in ("a", "bb"):
            threads.append(threading.get_ident())
            time.sleep(0.2)
            yield Embed((text,))
        time.sleep(0.2)
        return "done"

    async def main() -> tuple[str, int]:
        ticks = 0
        task = asyncio.ensure_future(arun(rule(), _Vectors()))
        while not task.done():
            ticks += 1
            await asyncio.sleep(0.01)
        return task.result(), ticks

    result, ticks = asyncio.run(main())

    assert result == "done"
    assert ticks > 20
    assert threading.get_ident() not in threads


def test_a_rule_reads_and_keeps_the_context_of_its_caller():
    """What it sets is there after an effect too, and does not leave it."""

    def rule():
        before = _asker.get()
        token = _asker.set("inside")
        yield Embed(("a",))
        inside = _asker.get()
        _asker.reset(token)
        return before, inside

    async def main():
        _asker.set("caller")
        return await arun(rule(), _Vectors()), _asker.get()

    assert asyncio.run(main()) == (("caller", "inside"), "caller")


def test_a_fault_of_an_effect_arrives_in_the_rule():
    """Failing closed is written there once, for sync and async."""

    def rule():
        try:
            yield Embed(("fail",))
        except ModelError:
            return "closed"
        return "open"

    assert asyncio.run(arun(rule(), _Vectors())) == "closed"


@pytest.mark.parametrize("at", ["effect", "computing"])
def test_a_cancelled_rule_is_closed(at: str):
    """While it waits at once, while it computes when it comes to its next effect."""
    closed, begun, go_on = threading.Event(), threading.Event(), threading.Event()

    class Runner:
        async def aperform(self, effect: Embed):
            begun.set()
            await asyncio.sleep(60)

    def rule():
        try:
            if at == "computing":
                begun.set()
                go_on.wait(5)
            yield Embed(("a",))
        finally:
            closed.set()

    async def main() -> None:
        task = asyncio.ensure_future(arun(rule(), Runner()))
        await asyncio.to_thread(begun.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    asyncio.run(main())
    assert closed.wait(5)
