"""Calls of models and hosts: bounded, at the same time, and without their texts."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from sdrag.effects import calls
from sdrag.effects.calls import Port
from sdrag.effects.limits import Limits, readable
from sdrag.effects.prompts import Message, Prompt, sensitive
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import (
    Authorize,
    Complete,
    Embed,
    Failure,
    Reply,
    Score,
    Search,
    arun,
    complete,
    run,
)
from sdrag.errors import HostError, ModelError, ModelTimeoutError, UsageError
from sdrag.vocabulary import Passage, Principal

from ..support.scripted import canary
from ..support.tables import each_row

SECRET = canary("secret")
PROMPT = Prompt("p", (Message("user", sensitive(SECRET)),))


def runner(call, acall=None, **limits):
    return PortRunner(Ports(complete=Port(call, acall)), Limits(**limits))


def drive(face, steps, performing):
    return (
        run(steps, performing)
        if face == "sync"
        else asyncio.run(arun(steps, performing))
    )


@pytest.fixture(params=["sync", "async"])
def face(request):
    return request.param


def test_a_hanging_call_ends_within_its_limit(face):
    """The waiting ends, and the others' answers are kept."""
    release = threading.Event()

    def call(prompt):
        return "fine" if prompt.name == "quick" else str(release.wait(60))

    prompts = [PROMPT, Prompt("quick", ())]
    outcomes = drive(face, complete(prompts), runner(call, concurrency=1, seconds=0.5))
    release.set()

    assert isinstance(outcomes[0].error, ModelTimeoutError)
    assert str(outcomes[0].error) == "The language model: No answer within 0.5 s."
    assert outcomes[1].value.text == "fine"


def test_an_async_call_that_ignores_its_cancellation_is_not_waited_for():
    """A provider that goes on after its time holds no request."""
    release, ended = asyncio.Event(), []

    async def acall(_):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await release.wait()
            ended.append("late")
        return "late"

    async def scene():
        steps = complete([PROMPT])
        (outcome,) = await arun(steps, runner(lambda _: "", acall, seconds=0.1))
        assert not ended
        release.set()
        return outcome

    assert isinstance(asyncio.run(scene()).error, ModelTimeoutError)


def test_an_interrupted_program_waits_for_no_call():
    """What runs is left to itself, and what waits is never asked."""
    release, asked, ended = threading.Event(), [], []

    def call(prompt):
        asked.append(prompt.name)
        if prompt.name == "0":
            raise KeyboardInterrupt
        ended.append(release.wait(5))

    prompts = [Prompt(str(number), ()) for number in range(9)]
    with pytest.raises(KeyboardInterrupt):
        run(complete(prompts), runner(call, concurrency=2))

    assert not ended
    assert len(asked) < len(prompts)
    release.set()


def test_calls_that_find_no_thread_fail_in_time(monkeypatch):
    """Calls that hang take at most the threads of the pool; the others fail."""
    release = threading.Event()
    pool = ThreadPoolExecutor(2)
    monkeypatch.setattr(calls, "_threads", lambda: pool)
    hanging = runner(lambda _: str(release.wait(60)), seconds=0.2)

    run(complete([PROMPT] * 2), hanging)
    (outcome,) = run(complete([PROMPT]), runner(lambda _: "fine", seconds=0.2))
    release.set()
    (later,) = run(complete([PROMPT]), runner(lambda _: "fine"))

    assert isinstance(outcome.error, ModelTimeoutError)
    assert later.value.text == "fine"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own():
    """Those of its parent are not there."""
    run(complete([PROMPT]), runner(lambda _: "fine"))

    child = get_context("fork").Process(target=_ask_in_a_child)
    child.start()
    child.join(60)

    assert child.exitcode == 0


def _ask_in_a_child():
    (outcome,) = run(complete([PROMPT]), runner(lambda _: "fine", seconds=20))
    assert isinstance(outcome, Reply)


STEPS = [
    (Complete((PROMPT,)), "language model", ModelError),
    (Embed((SECRET,)), "embedding model", HostError),
    (Search((SECRET,)), "retriever", HostError),
    (Score(((SECRET, SECRET),), "entailment"), "judge of entailment", HostError),
    (Authorize((Passage("p", SECRET),), Principal("u")), "authorizer", HostError),
]


@each_row("effect, step, kind", STEPS)
def test_an_error_names_the_step_and_the_type_of_its_cause(effect, step, kind):
    """
    Sync and async, for whatever the application passes; its message may quote.

    A provider that cancels itself cancels nobody else.
    """
    for error, what in (
        (ValueError(SECRET), "failed with ValueError."),
        (KeyError(SECRET), "failed with KeyError."),
        (asyncio.CancelledError(SECRET), "failed with CancelledError."),
        (TimeoutError(SECRET), "took longer than its own limit."),
    ):

        def call(_, error=error):
            raise error

        async def acall(_, error=error):
            raise error

        ports = Ports(*[Port(call, acall)] * 5)
        performing = PortRunner(ports, Limits(attempts=1))
        (outcome,) = performing.perform(effect)
        (again,) = asyncio.run(performing.aperform(effect))

        assert str(outcome.error) == str(again.error) == f"The {step} {what}"
        assert isinstance(outcome.error, kind)
        assert SECRET not in repr(outcome.error)
        assert outcome.error.__context__ is None
        assert outcome.error.__traceback__ is None


def test_an_error_of_ours_is_handed_on_as_it_is():
    """A wrapper in a wrapper has said already what failed."""
    ours = HostError("The retriever failed with ValueError.")

    def search(_):
        raise ours

    (outcome,) = PortRunner(Ports(search=Port(search))).perform(Search(("q",)))

    assert str(outcome.error) == str(ours)


def test_context_reaches_the_call(face):
    """What is context-local to the caller is so to the call."""
    who = contextvars.ContextVar("who", default="nobody")
    who.set("ann")

    (outcome,) = drive(face, complete([PROMPT]), runner(lambda _: who.get()))

    assert outcome.value.text == "ann"


def test_no_more_run_side_by_side_than_allowed(face):
    """Concurrency is a bound, and it is used."""
    running, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(3)

    def call(_):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(60)
        with lock:
            running -= 1
        return "x"

    drive(face, complete([PROMPT] * 12), runner(call, concurrency=3))

    assert most == 3


def test_cancelling_closes_the_steps():
    """A request that is given up runs its rules' `finally`, and its call ends."""
    closed, begun = [], asyncio.Event()

    async def hang(_):
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            closed.append("call")

    def steps():
        try:
            yield from complete([PROMPT])
        finally:
            closed.append("steps")

    async def scene():
        task = asyncio.create_task(arun(steps(), runner(lambda _: "", hang)))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)

    asyncio.run(scene())

    assert sorted(closed) == ["call", "steps"]


def test_every_call_has_a_limit():
    """No limit of time is missing, zero or endless; only texts may be of any length."""
    for bad in (0, -1, float("inf"), float("nan")):
        for name in ("seconds", "text_characters", "local_characters"):
            with pytest.raises(UsageError):
                Limits(**{name: bad})

    assert readable(["a" * 10**6], Limits(text_characters=None, local_characters=None))


@each_row(
    "vectors",
    [[], [[1.0]], [[1.0], [1.0, 2.0]], [1.0, 2.0], None, "no", [[float("nan")], [1.0]]],
)
def test_vectors_that_are_none_are_failures(vectors):
    """An embedding model that gives anything but one vector a text has failed."""
    port = PortRunner(Ports(embed=Port(lambda _: vectors)))

    outcomes = port.perform(Embed(("a", "b")))

    assert all(isinstance(outcome, Failure) for outcome in outcomes)
    assert len(outcomes) == 2


@each_row(
    "lengths, read",
    [
        ([], []),
        ([8, 1, 5, 2], [False, True, True, True]),
        ([9], [False]),
        ([4, 4, 4], [True, True, False]),
        ([8], [True]),
        ([6, 6], [True, False]),
    ],
)
def test_the_shortest_texts_are_read_first(lengths, read):
    """So that one long text costs itself alone, whatever their order."""
    texts = [chr(65 + n) * length for n, length in enumerate(lengths)]

    assert readable(texts, Limits(text_characters=8, local_characters=8)) == read
    assert readable(texts[:1] * 3, Limits(local_characters=9)) == [True] * 3 * len(
        texts[:1]
    )
