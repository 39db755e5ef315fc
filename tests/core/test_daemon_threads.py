"""Threads that do one piece of work after another."""

from __future__ import annotations

import os
import threading
import weakref
from multiprocessing import get_context

import pytest

from sdrag.engine.daemon_threads import DaemonThreads, daemon_threads
from tests.support.waiting import eventually


@pytest.fixture
def threads():
    return DaemonThreads(patience=60)


def done(threads, function=lambda: None):
    """Do it; return the thread that did it."""
    ended, by = threading.Event(), []

    def work():
        function()
        by.append(threading.current_thread())
        ended.set()

    threads.do(work)
    assert ended.wait(60)
    return by[0]


def idle(threads):
    """Wait until a thread waits for work."""
    assert eventually(lambda: threads._idle)


def test_a_thread_does_one_piece_of_work_after_another(threads):
    """Few threads are started for much work, and none holds the process."""
    by = []
    for _ in range(50):
        by.append(done(threads))
        idle(threads)

    assert len(set(by)) == 1
    assert by[0].daemon


def test_work_never_waits_for_other_work(threads):
    """There are as many threads as there is work at the same time."""
    done(threads)
    all_of_them = threading.Barrier(9, timeout=60)

    for _ in range(8):
        threads.do(all_of_them.wait)

    all_of_them.wait()


def test_a_thread_that_nobody_needs_ends():
    """It waits for a while and no longer; what comes later has another one."""
    threads = DaemonThreads(patience=0.05)
    thread = done(threads)

    assert eventually(lambda: not thread.is_alive())
    assert done(threads) is not thread


def test_an_idle_thread_holds_nothing(threads):
    """What was worked on may be text."""

    class Text:
        """Anything that can be watched."""

    text = Text()
    gone = weakref.ref(text)
    done(threads, lambda text=text: None)
    del text

    assert eventually(lambda: gone() is None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own():
    """It waits for none of its parent's, which are not copied with it."""
    done(daemon_threads)

    forked = get_context("fork").Process(target=done, args=(daemon_threads,))
    forked.start()
    forked.join(60)

    assert forked.exitcode == 0
