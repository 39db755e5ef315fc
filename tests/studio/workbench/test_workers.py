"""Long work blocks nobody, ends in time, and cannot pile up."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from sdrag.privacy.log_privacy import RawTextFilter
from sdrag.studio.workbench.bodies import Workers
from sdrag.studio.workbench.gate import RefusedError

from ...support.scripted import canary


async def settled():
    """Let all tasks go on to where they wait."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_no_more_is_begun_than_there_are_slots():
    """Some more wait, and what comes then is refused at once."""
    running, most, go_on = 0, 0, threading.Event()
    lock = threading.Lock()

    def work():
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        go_on.wait(60)
        with lock:
            running -= 1

    workers = Workers(slots=2, waiting=3)
    tasks = [asyncio.create_task(workers.run(work)) for _ in range(5)]
    await settled()
    with pytest.raises(RefusedError, match="too much to do") as refused:
        await workers.run(work)
    go_on.set()
    await asyncio.gather(*tasks)

    assert refused.value.status == 503
    assert most == 2
    assert await workers.run(lambda: 5) == 5


async def test_work_over_its_time_keeps_its_slot():
    """So asking again and again starts no second thread."""
    go_on, begun = threading.Event(), []
    first = threading.Event()

    def work():
        begun.append(1)
        first.set()
        go_on.wait(60)

    workers = Workers(slots=1, waiting=1)
    with pytest.raises(RefusedError, match="longer than"):
        await workers.run(work, seconds=0.05)
    second = asyncio.create_task(workers.run(work))
    assert await asyncio.to_thread(first.wait, 60)
    await settled()

    assert len(begun) == 1
    go_on.set()
    await second
    assert len(begun) == 2


async def test_who_gives_up_waiting_takes_no_space():
    go_on = threading.Event()
    workers = Workers(slots=1, waiting=1)
    first = asyncio.create_task(workers.run(lambda: go_on.wait(60)))
    await settled()
    for _ in range(5):
        waiting = asyncio.create_task(workers.run(lambda: 1))
        await settled()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    go_on.set()
    await first

    assert await workers.run(lambda: 5) == 5


async def test_a_fault_that_nobody_waits_for_is_not_logged(caplog):
    """The loop would log the exception, whose message may quote a document."""
    secret = canary("document")
    go_on = threading.Event()

    def work():
        go_on.wait(60)
        raise ValueError(secret)

    workers = Workers(slots=1, waiting=1)
    with caplog.at_level(logging.DEBUG):
        with pytest.raises(RefusedError):
            await workers.run(work, seconds=0.02)
        go_on.set()
        assert await workers.run(lambda: 5) == 5  # in the slot that is free again

    assert secret not in caplog.text


async def test_other_code_logs_no_text_while_it_works(caplog, monkeypatch):
    """Readers of PDF log what they stumble over; the command has this filter."""
    monkeypatch.setattr(caplog.handler, "filters", [RawTextFilter()])
    secret = canary("document")

    def work():
        logging.getLogger("pypdf").warning("odd object %s", secret)

    with caplog.at_level(logging.DEBUG):
        await Workers().run(work)

    assert caplog.records
    assert secret not in caplog.text
