"""Local work of a request: within its characters and seconds, and closed beyond."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from dataclasses import replace

import pytest

from sdrag.engine import deadlines
from sdrag.engine.calls import Limits
from sdrag.engine.deadlines import Deadline, check_time, ends_by
from sdrag.engine.effect_runner import CountingRunner, PortRunner, Ports
from sdrag.engine.local_work import LocalWork
from sdrag.engine.steps import (
    Failure,
    Reply,
    arun,
    compute,
    gather,
    replied,
    reserve,
    run,
    within_limits,
)
from sdrag.errors import InternalError, LocalLimitError, UsageError
from sdrag.testing import canary
from tests.support.waiting import eventually, nothing_hangs

SECRET = canary("secret")
LIMITS = Limits(local_seconds=60)


@pytest.fixture(params=["sync", "async"])
def drive(request):
    if request.param == "sync":
        return run
    return lambda steps, runner: asyncio.run(arun(steps, runner))


@pytest.fixture
def released():
    """An event that ends every hanging worker with the test."""
    event = threading.Event()
    yield event
    event.set()


def metered(limits=LIMITS):
    return CountingRunner(PortRunner(Ports(), limits))


def bounded(function, *items):
    return within_limits(compute(function, items))


def working():
    return [item for item in threading.enumerate() if item.name.startswith("sdrag-")]


def over(outcome):
    return isinstance(outcome, Failure) and isinstance(outcome.error, LocalLimitError)


def test_work_within_its_time_is_answered(drive):
    """Item by item; one that fails is one outcome, and no word of it is told."""

    def halved(number):
        if number % 2:
            raise ValueError(SECRET)
        return number // 2

    two, failed, four = drive(bounded(halved, 4, 3, 8), metered())

    assert [two, four] == [Reply(2), Reply(4)]
    assert isinstance(failed.error, InternalError)
    assert SECRET not in f"{failed}"


def test_work_that_does_not_end_is_abandoned(drive, released, clock):
    """What was done before it is kept; it and what comes after it fail."""

    def waits(item):
        if item == "hangs":
            clock.skip()
            released.wait(60)
        return item

    done, *late = drive(bounded(waits, "a", "hangs", "b"), metered())

    assert done == Reply("a")
    assert all(map(over, late))
    assert all(thread.daemon for thread in working())


def test_a_request_spends_its_seconds_once(drive, released, clock):
    """Work that comes after them is not begun."""
    begun = []

    def waits(item):
        begun.append(item)
        clock.skip()
        return released.wait(60)

    def twice():
        first = yield from bounded(waits, "first")
        second = yield from bounded(waits, "second")
        return [*first, *second]

    assert all(map(over, drive(twice(), metered())))
    assert begun == ["first"]


def test_abandoned_work_stops_where_it_looks(drive, clock):
    """It burns no processor for nobody: its thread ends by itself."""
    before = set(working())

    def looks(_):
        clock.skip()
        while True:
            check_time()

    (late,) = drive(bounded(looks, 1), metered())

    assert over(late)
    assert eventually(lambda: not set(working()) - before)


def test_work_that_goes_on_past_its_deadline_is_not_answered(drive, clock):
    """Whoever swallows the error in the middle has not read to the end."""

    def swallows(_):
        clock.skip()
        try:
            while True:
                check_time()
        except LocalLimitError:
            return "half of it"

    (late,) = drive(bounded(swallows, 1), metered())

    assert over(late)


def test_abandoned_work_counts_as_hanging(drive, released, clock):
    """Past the cap nothing is begun; once the abandoned ends, work goes on."""
    assert nothing_hangs()
    limits = replace(LIMITS, hanging=1)
    begun = []

    def waits(item):
        begun.append(item)
        clock.skip()
        return released.wait(60)

    drive(bounded(waits, "first"), metered(limits))
    refused = drive(bounded(waits, "second"), metered(limits))
    released.set()

    assert all(map(over, refused))
    assert begun == ["first"]
    assert eventually(lambda: drive(bounded(str, 1), metered(limits)) == [Reply("1")])


def test_no_time_limit_means_none(drive):
    """The work is done to its end, where the caller is or off the event loop."""
    endless = metered(Limits(local_seconds=None))

    assert drive(bounded(str, 1, 2), endless) == [Reply("1"), Reply("2")]


def test_what_is_not_local_work_is_not_limited(drive):
    """A look-up in the state may take longer than the limit."""
    runner = metered(Limits(local_seconds=1e-9))

    (late,) = drive(bounded(str, 1), runner)

    assert over(late)
    assert drive(compute(str, [1]), runner) == [Reply("1")]


def test_gathered_rules_are_limited_too(drive, released, clock):
    """Each on its thread."""
    both_hang = threading.Barrier(2, action=clock.skip)

    def waits(item):
        if item == "done":
            return item
        both_hang.wait(60)
        return released.wait(60)

    def both():
        first, second = compute(waits, ["hangs"]), compute(waits, ["done", "hangs"])
        return (yield from gather(first, second))

    (late,), (done, later) = map(replied, drive(within_limits(both()), metered()))

    assert over(late)
    assert over(later)
    assert done == Reply("done")


def test_a_fault_meets_the_rule_within_limits(drive):
    """An effect that fails as a whole is thrown where the rule stands."""

    def guarded():
        try:
            yield from reserve([5])
        except InternalError:
            return "closed"

    assert drive(within_limits(guarded()), metered()) == "closed"


def test_context_reaches_the_work(drive):
    """What is context-local to the caller is so to the work."""
    who = contextvars.ContextVar("who", default="nobody")
    who.set("ann")

    assert drive(bounded(lambda _: who.get(), 1), metered()) == [Reply("ann")]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_of_the_work_passes(interrupt):
    """It is raised where the work is waited for."""

    def interrupted(_):
        raise interrupt

    with pytest.raises(interrupt):
        run(bounded(interrupted, 1), metered())


def test_a_request_that_is_given_up_ends_its_work():
    """Cancelling leaves no work behind that looks at its time."""
    before, begun = set(working()), threading.Event()

    def looks(_):
        begun.set()
        while True:
            check_time()

    async def scene():
        runner = metered(Limits(local_seconds=60))
        task = asyncio.create_task(arun(bounded(looks, 1), runner))
        assert await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())

    assert eventually(lambda: not set(working()) - before)


@pytest.mark.parametrize(
    ("texts", "allowed"),
    [
        (["a" * 10], [True]),
        (["a" * 11], [False]),
        (["a" * 6, "b" * 6], [True, False]),
        (["a" * 6, "b" * 6, "c" * 4], [True, False, True]),
        (["a" * 6, "a" * 6], [True, True]),
        ([""], [True]),
    ],
)
def test_so_many_characters_are_read(drive, texts, allowed):
    """In their order, and a text counts once."""
    limits = Limits(local_characters=10)

    outcomes = drive(reserve(texts), metered(limits))

    assert [not over(outcome) for outcome in outcomes] == allowed
    assert not any(texts[0] in repr(outcome) for outcome in outcomes if texts[0])


def test_characters_are_those_of_one_request(drive):
    """Several effects share them, and another request has its own."""

    def twice():
        first = yield from reserve(["a" * 8])
        second = yield from reserve(["b" * 8])
        return [*first, *second]

    limits = Limits(local_characters=10)

    assert [over(item) for item in drive(twice(), metered(limits))] == [False, True]
    assert [over(item) for item in drive(twice(), metered(limits))] == [False, True]


def test_without_limits_every_text_is_read(drive):
    """None stands for any number."""
    limits = Limits(local_characters=None)

    assert drive(reserve(["a" * 10**6]), metered(limits)) == [Reply(None)]


@pytest.mark.parametrize("field", ["local_characters", "local_seconds"])
@pytest.mark.parametrize("bad", [0, -1, float("inf"), float("nan")])
def test_a_limit_is_above_zero_or_none(field, bad):
    """No limit is by accident none."""
    with pytest.raises(UsageError):
        Limits(**{field: bad})


def test_time_is_asked_for_as_the_clock_says(monkeypatch):
    """Before its deadline work goes on; from then on it does not."""
    now = 100.0
    monkeypatch.setattr(deadlines, "monotonic", lambda: now)
    with ends_by(Deadline(105.0)):
        check_time()
        now = 105.0
        with pytest.raises(LocalLimitError):
            check_time()
    check_time()


def test_a_failure_of_the_whole_is_raised_by_what_waits():
    """`replied` of work that was not done is an error of ours."""
    (outcome,) = LocalWork(Limits(local_characters=1)).reserve(["long"])

    with pytest.raises(LocalLimitError):
        replied(outcome)
